#!/bin/sh
# Builds the whole tree with its tests by the other compiler, without a warning, and runs those tests that need one host.
# Usage: clang.sh SOURCE WORK
# Would catch: code that only g++ takes, a warning of clang's, a test or an example that leans on one compiler.
set -eu
source=$1 work=$2
command -v clang++ >/dev/null || { echo "skipped: clang is not installed (tools/packages.txt, group clang)"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
# With a base of paths a cache has the compiler named sources by their way from the build's folder: install.tree sees that.
unset CFLAGS CXXFLAGS LDFLAGS CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS CCACHE_BASEDIR || true
fail() { tail -60 "$work/out" 2>/dev/null || true; echo "clang: $*"; exit 1; }
cd "$source"
set --
if command -v ccache >/dev/null; then
  set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset clang -B "$work/build" -DCAUSEWAY_UNITE=ON -DCAUSEWAY_DEBUG_INFO=1 "$@" >"$work/out" 2>&1 ||
  fail "cannot be configured"
cmake --build "$work/build" >"$work/out" 2>&1 || fail "does not build"
ctest --test-dir "$work/build" -L 'unit|abi|spec|conformance' -LE 'soak|distro' -j "$(($(nproc) * 2))" \
  --output-on-failure >"$work/out" 2>&1 || fail "tests fail"
tail -n 5 "$work/out"
