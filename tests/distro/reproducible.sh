#!/bin/sh
# Builds the tree twice, at places of different names, depths and relations of sources to build, under another
# time zone, language and umask, and compares what is installed byte for byte, debugging information included.
# Usage: reproducible.sh SOURCE WORK CC CXX
# CFLAGS and CXXFLAGS are as the environment has them: -O0 there takes half of the time.
# Would catch: a path of the sources or the build, a date, or an order of files by name or disk in what is installed.
set -eu
source=$1 work=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"
rm -rf "$work"
mkdir -p "$work"
# Another build's objects would hide a difference.
export CCACHE_DISABLE=1
unset SOURCE_DATE_EPOCH || true
fail() { tail -20 "$work/out" 2>/dev/null || true; echo "reproducible: $*"; exit 1; }
build() { # SOURCE BUILD INSTALLED
  copy_sources "$source" "$1"
  cmake -S "$1" -B "$2" "-DCMAKE_C_COMPILER=$cc" "-DCMAKE_CXX_COMPILER=$cxx" -DCAUSEWAY_DEBUG_INFO=1 >"$work/out" 2>&1 &&
    cmake --build "$2" -j "$(nproc)" >"$work/out" 2>&1 || fail "$1 does not build"
  DESTDIR=$3 cmake --install "$2" >"$work/out" 2>&1 || fail "$1 cannot be installed"
}
(umask 022 && export TZ=UTC LC_ALL=C && build "$work/one" "$work/one/build/here" "$work/first")
(umask 027 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 &&
  build "$work/quite/another/place" "$work/elsewhere" "$work/second")
[ "$(find "$work/first" -type f | wc -l)" -gt 100 ] || fail "hardly anything was installed"
diff -rq --no-dereference "$work/first" "$work/second" >"$work/differences" || {
  cat "$work/differences"
  fail "installed files differ"
}
