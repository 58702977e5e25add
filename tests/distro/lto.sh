#!/bin/sh
# Builds the tree with optimisation at link time and tries what came out.
# Usage: lto.sh SOURCE WORK CC CXX
# Would catch: a symbol, an exported name or a section with a plugin's description that such a build drops; an
# archive for clients that their linkers cannot read; kernels for one instruction set inlined into others.
set -eu
source=$1 work=$2 cc=$3 cxx=$4
rm -rf "$work"
mkdir -p "$work"
unset CFLAGS CXXFLAGS LDFLAGS CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
fail() { tail -20 "$work/out" 2>/dev/null || true; echo "lto: $*"; exit 1; }
build=$work/build tree=$work/tree
cmake -S "$source" -B "$build" "-DCMAKE_C_COMPILER=$cc" "-DCMAKE_CXX_COMPILER=$cxx" -DCAUSEWAY_DEBUG_INFO=1 \
  -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$work/out" 2>&1 || fail "cannot be configured"
grep -q -e -flto "$build/compile_commands.json" || fail "nothing is optimised at link time"
cmake --build "$build" -j "$(nproc)" >"$work/out" 2>&1 || fail "does not build"
cmake --install "$build" --prefix "$tree" >"$work/out" 2>&1 || fail "cannot be installed"
run() { timeout 300 "$@" >"$work/out" 2>&1 || fail "$* fails"; }
for plugin in self shm; do
  run "$tree/bin/causeway" check-plugin "$tree/lib/causeway/2/conduit_$plugin.so"
  grep -q ' 0 failed' "$work/out" || fail "conduit $plugin does not pass"
done
run "$tree/bin/causeway" check-plugin "$tree/lib/causeway/2/collective_hier.so"
for set in direct_map=auto direct_map=never; do
  run "$tree/bin/causeway" run -n 4 --set $set -- "$tree/libexec/causeway/hello"
  run "$tree/bin/causeway" run -n 4 --set $set -- "$tree/libexec/causeway/wordfreq" "$source/LICENSE"
  run "$tree/bin/causeway" run -n 4 --set $set -- "$tree/libexec/causeway/heat"
done
"$source/tests/install/readme.sh" "$source/README.md" "$tree" "$work/readme" "$cc" >"$work/out" 2>&1 || fail "the first program fails"
# A client that is linked without optimisation, by an identity's archive, and under a compiler that is not ours.
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
"$cc" -fno-lto -fno-use-linker-plugin "$source/tests/install/identity.c" -o "$work/client" \
  $(pkg-config --cflags --libs gasnet-udp-par) >"$work/out" 2>&1 || fail "a client does not link with an identity's archive"
run "$tree/bin/amudprun" -np 2 "$work/client"
