#!/bin/sh
# Builds the tree for 64-bit ARM and has an emulator run parts of its tests: units, conformance over shared memory and
# Ethernet, the specifications by jobs of two ranks. Emulation has x86's order of memory: for that, see tests/models.
# Usage: arm64.sh SOURCE WORK CC CXX
# Would catch: code for one machine only, programs of the build that cannot be cross-built, a system call that an
# emulator lacks and that nothing replaces.
set -eu
source=$1 work=$2
. "$(dirname "$0")/files.sh"
skip() { echo "skipped: $*"; exit 77; }
for program in aarch64-linux-gnu-g++ qemu-aarch64-static mmdebstrap ninja; do
  command -v $program >/dev/null || skip "$program is not installed (tools/packages.txt, groups arm64 and build)"
done
suite=$(. /etc/os-release && echo "${ID:-} ${VERSION_CODENAME:-}")
case $suite in 'debian '?*) suite=${suite#debian } ;; *) skip "this is not Debian, whose libraries for ARM are needed" ;; esac

# Ranks are programs that programs start, so the kernel has to know the emulator. Where it does not, it is told in a
# namespace of the test's own (Linux 6.7 and later).
emulated() {
  if [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then "$@"; return; fi
  # shellcheck disable=SC2016 # the inner shell's
  unshare -Urm sh -euc 'here=/proc/sys/fs/binfmt_misc
    mount -t binfmt_misc none $here
    head=$1 mask=$2 qemu=$(command -v qemu-aarch64-static)
    shift 2
    printf %s ":qemu-aarch64:M::$head:$mask:$qemu:F" >$here/register
    exec "$@"' sh \
    '\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00' \
    '\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' "$@"
}
emulated true 2>/dev/null || skip "this kernel has no emulator for programs of ARM, and none can be registered"
rm -rf "$work"
mkdir -p "$work/root"
unset CFLAGS CXXFLAGS LDFLAGS CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
fail() { tail -60 "$work/out" 2>/dev/null || true; echo "arm64: $*"; exit 1; }
mmdebstrap --variant=extract --architectures=arm64 --include="libc6-dev,libstdc++-12-dev,libpmix-dev,libhwloc-dev,\
libyaml-cpp-dev,libcli11-dev,libfmt-dev,libgtest-dev,libgmock-dev,libssl-dev,zlib1g-dev" "$suite" - 2>"$work/out" |
  tar -xf - -C "$work/root" ./lib ./usr/lib ./usr/include ./usr/share || true
# The emulator looks for every file there first, so it has no more than libraries.
[ -e "$work/root/usr/include/gtest/gtest.h" ] ||
  skip "no root for ARM can be made here: $(grep -m 1 '^E:' "$work/out" || tail -n 1 "$work/out")"

# Links that count from the top of that machine lead into the root.
# shellcheck disable=SC2016 # the inner shell's
find "$work/root" -type l -lname '/*' -exec sh -c 'for link; do ln -sfn "$0$(readlink "$link")" "$link"; done' "$work/root" {} +

copy_sources "$source" "$work/source"
cd "$work/source"
build=$work/build
cmake --preset arm64 -B "$build" "-DCMAKE_SYSROOT=$work/root" -DCAUSEWAY_DEBUG_INFO=1 >"$work/out" 2>&1 ||
  fail "cannot be configured"
# shellcheck disable=SC2046 # targets are words
cmake --build "$build" --target causeway causeway_plugins causeway_manual causeway-conformance eth_cases hello heat wordfreq \
  spec_gex_par spec_gaspi $(cmake --build "$build" --target help | sed -nE 's/^(unit_[a-z0-9_]+): phony$/\1/p') \
  >"$work/out" 2>&1 || fail "does not build"

export QEMU_LD_PREFIX="$work/root"
cd "$build"
# try LIMIT COMMAND...: what was said is in out.
try() {
  limit=$1
  shift
  emulated timeout "$limit" "$@" >"$work/out" 2>&1 || fail "$* fails"
}
run() { try 600 bin/causeway run --timeout 500 "$@"; }
# Left out: tests that want the conduits of networks; what has several users, who are not in the namespace; programs
# that copy themselves, fork ranks (the emulator's own thread is one too many) or attach to memory of others; pages
# of the host that the emulator keeps; and times when processes began, which it makes up for a process's own look.
export GTEST_FILTER='-BadPlugin.*:*/BadPlugin.*:SetId.*:OwnPath.*:JobKey.OfRanks*:HostKind.KnowsWhich*:ShmMemory.*Client*:Failure.StalePosixObjectsAreSwept:Shm/Memory.*/1'
try 1800 ctest -R '^unit\.' -E 'unit\.(config|explain)_command' --timeout 600 --output-on-failure
unset GTEST_FILTER
# The emulator has no cross-memory attach, by which shm reaches what it did not allocate: the core uses messages then.
for plugin in conduit_self conduit_shm conduit_eth collective_base collective_hier memkind_host; do
  try 1200 libexec/causeway/causeway-conformance --plugin "lib/causeway/2/$plugin.so" --slow 4 \
    --gtest_filter=-Rma.registered_client_memory:Rma.key_of_other_memory
done
for set in direct_map=auto direct_map=never; do
  run -n 2 --set $set -- bin/spec_gex_par am_arguments am_payload rma atomics coll_broadcast coll_reduce threads
  run -n 2 --set $set -- bin/spec_gaspi transfer collectives passive atomics
done
