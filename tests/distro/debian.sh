#!/bin/sh
# Makes the packages of Debian and hands them to a clean root of it (mmdebstrap), where installed.sh goes on.
# Usage: debian.sh SOURCE WORK CC CXX
# Would catch: a package that is missing, depends on too little or too much, or shares a file with another one;
# more than 15 MB installed; a first program that does not build or run from packages; a trace after a purge.
set -eu
source=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"
skip() { echo "skipped: $*"; exit 77; }
for program in mmdebstrap dpkg-deb dpkg-shlibdeps file; do
  command -v $program >/dev/null || skip "$program is not installed (tools/packages.txt, group debian)"
done
suite=$(. /etc/os-release && echo "${ID:-} ${VERSION_CODENAME:-}")
case $suite in 'debian '?*) suite=${suite#debian } ;; *) skip "this is not Debian, whose packages would fit here only" ;; esac
rm -rf "$work"
mkdir -p "$work"
unset CFLAGS CXXFLAGS LDFLAGS CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
fail() { tail -30 "$work/out" 2>/dev/null || true; echo "debian: $*"; exit 1; }
mmdebstrap --variant=extract --include=base-files "$suite" /dev/null >"$work/out" 2>&1 ||
  skip "no clean root can be made here: $(grep -m 1 '^E:' "$work/out" || tail -n 1 "$work/out")"

copy_sources "$source" "$work/source"
"$work/source/tools/packages/debian" "$work/packages" -DCAUSEWAY_DEBUG_INFO=1 >"$work/out" 2>&1 || fail "no packages are made"
cd "$work/packages"
for name in libcauseway0 libcauseway-dev causeway causeway-doc causeway-bench libcauseway0-ofi libcauseway0-ucx \
  libcauseway0-verbs libcauseway0-eth libcauseway0-cuda libcauseway0-hip libcauseway0-ze libcauseway-gaspi0 \
  libcauseway-gaspi-dev causeway-gasnet-smp causeway-gasnet-udp causeway-gasnet-mpi causeway-gasnet-ibv \
  causeway-gasnet-ofi causeway-gasnet-ucx causeway-gasnet-tools causeway-gasnet-common causeway-gpi2 \
  libcauseway0-dbgsym causeway-dbgsym libcauseway-gaspi0-dbgsym libcauseway0-ofi-dbgsym; do
  [ -n "$(find . -name "${name}_*.deb")" ] || fail "there is no package $name"
done

# ---- a library's packages ask for what they are linked with, and nobody else does ----
field() { dpkg-deb -f "$1"_*.deb "$2"; }
case $(field libcauseway0 Depends) in *libfabric* | *libucx* | *libibverbs*) fail "libcauseway0 depends on a network" ;; esac
case $(field causeway Depends) in *libfabric* | *libucx* | *libibverbs* | *gaspi*) fail "causeway depends on a network" ;; esac
for pair in ofi:libfabric1 ucx:libucx0 verbs:libibverbs1; do
  case $(field "libcauseway0-${pair%:*}" Depends) in *"${pair#*:}"*) ;; *) fail "libcauseway0-${pair%:*} lacks ${pair#*:}" ;; esac
done
# ---- no file is in two packages, and all together are small ----
bytes=0
for package in *.deb; do
  case $package in *-dbgsym_*) continue ;; esac
  # CPack counts a library for each of its links, so the files are counted here.
  size=$(dpkg-deb -c "$package" | awk '$1 ~ /^-/ { sum += $3 } END { print sum + 0 }')
  bytes=$((bytes + size))
  dpkg-deb -c "$package" | awk '$1 !~ /^d/ { print $6 }' >>"$work/files"
  dpkg-deb -c "$package" | grep -q ' \./usr/share/doc/[^/]*/copyright$' || fail "$package has no copyright"
done
twice=$(sort "$work/files" | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"
echo "installed size without debug symbols: $bytes bytes"
[ "$bytes" -le 15000000 ] || fail "$bytes bytes are more than 15 MB"

first_program "$source" >hello.c
cp "$here/installed.sh" .
# shellcheck disable=SC2016 # mmdebstrap's own variable
mmdebstrap --variant=minbase --include=gcc,libc6-dev,pkg-config "$suite" /dev/null \
  --customize-hook="copy-in $work/packages /" \
  --customize-hook='chroot "$1" sh /packages/installed.sh' >"$work/out" 2>&1 || fail "the packages do not work in a clean root"
grep -q '^installed: all is well$' "$work/out" || fail "the clean root did not come to its end"
