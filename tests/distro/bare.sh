#!/bin/sh
# A bare root of a Debian, as a machine of its own: two commands of the README lead to its first program, the tutorial
# of a conduit to check-plugin, and with `check` the whole suite of tests runs there.
# Usage: bare.sh SOURCE WORK SUITE [check]
# Would catch: a package that the build needs and nobody names; code that another release's compiler, libfabric, UCX,
# PMIx, hwloc, fmt or yaml-cpp refuses or behaves otherwise with; a test that holds on one release only.
set -eu
source=$1 work=$2 suite=$3 check=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"
skip() { echo "skipped: $*"; exit 77; }
fail() { tail -40 "$work/out" 2>/dev/null || true; echo "bare: $*"; exit 1; }
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed (tools/packages.txt, group debian)"
[ "$(id -u)" = 0 ] || skip "roots of Debian are made, and entered, by root"
rm -rf "$work"
mkdir -p "$work/root"
# Of the essential packages, what fetches others, and mount.
mmdebstrap --variant=minbase --include=ca-certificates,mount "$suite" "$work/root" >"$work/out" 2>&1 ||
  skip "no root of $suite can be made here: $(grep -m 1 '^E:' "$work/out" || tail -n 1 "$work/out")"
# install.tree looks for the folder's name in what is installed.
copy_sources "$source" "$work/root/its-sources"
cache=$(ccache -k cache_dir 2>/dev/null || echo "$work/ccache")
mkdir -p "$cache" "$work/root/root/.cache/ccache" "$work/root/old"

# inside COMMAND: in the root, with processes, mounts, a name, networks' interfaces and a /dev/shm of its own kind.
inside() {
  # shellcheck disable=SC2016 # the inner shell's
  unshare --mount --pid --uts --ipc --fork --kill-child sh -euc '
    root=$1 cache=$2
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mount -t tmpfs tmpfs "$root/run"
    mount --bind "$cache" "$root/root/.cache/ccache"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cd "$root"
    pivot_root . old
    umount -l /old
    cd /its-sources
    exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -euc "$3"' \
    sh "$work/root" "$cache" "$1"
}

# ---- the README's first command, and its first program ----
# ccache is no part of what is asked for; it only saves the time of a second run.
inside 'apt-get -q update && apt-get -q -y install --no-install-recommends ccache' >"$work/out" 2>&1 ||
  skip "nothing can be installed in the root: $(grep -m 1 '^E:' "$work/out" || tail -n 1 "$work/out")"
inside tools/quickstart >"$work/out" 2>&1 || fail "$suite: tools/quickstart fails"
! grep -nE '[0-9]: warning: ' "$work/out" || fail "$suite: the compiler warns"
first_program "$source" >"$work/root/root/hello.c"
# shellcheck disable=SC2016 # the inner shell's
inside '
  export PKG_CONFIG_PATH=/its-sources/build/installed/lib/pkgconfig PATH=/its-sources/build/installed/bin:$PATH
  cc /root/hello.c $(pkg-config --cflags --libs causeway) -Wl,-rpath,/its-sources/build/installed/lib -o /root/hello
  timeout 60 causeway run -n 4 /root/hello' >"$work/out" 2>&1 || fail "$suite: the first program does not run"
[ "$(grep -c '^rank . heard from rank .$' "$work/out")" = 4 ] || fail "$suite: the first program says something else"

# ---- a plugin of a vendor: the tutorial's, word for word, to its check-plugin ----
inside 'tests/install/tutorial.sh conduit-api/README.md /its-sources/build/installed /root/tutorial cc' \
  >"$work/out" 2>&1 || fail "$suite: the tutorial of a conduit does not work behind tools/quickstart"
[ "$check" = check ] || exit 0

# ---- every test; the tree of quickstart has none ----
inside 'rm -rf build && tools/check' >"$work/check.log" 2>&1 || {
  tail -60 "$work/check.log"
  fail "$suite: tests fail"
}
! grep -nE '[0-9]: warning: ' "$work/check.log" || fail "$suite: the compiler warns"
sed -n '/tests passed/,$p' "$work/check.log"
inside 'tools/install-packages clang && tests/distro/clang.sh /its-sources /root/clang' >"$work/out" 2>&1 ||
  fail "$suite: clang's build or its tests fail"
tail -n 5 "$work/out"
