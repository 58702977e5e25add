#!/bin/sh
# The examples of interposition: builds trace and chaos from an installed tree only, has the suite
# check them in front of installed conduits, and runs a program, compiled long before, over them.
# Usage: interposition.sh TREE WORK_DIR CLIENT CXX
# Catches: a wrapping conduit that needs more than the installed headers and folders, or
# that finds the conduit behind only in the build tree.
set -eu
tree=$1 work=$2 client=$3 cxx=$4
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
cp -r "$tree/share/causeway/interposition" "$work/source"
cp -r "$tree/share/causeway/common" "$work/common"  # what they share with every plugin
fail() { cat "$work/log"; echo "interposition: $*"; exit 1; }
for name in trace chaos; do
  { cmake -S "$work/source/$name" -B "$work/$name" -DCMAKE_PREFIX_PATH="$tree" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS=-Werror && cmake --build "$work/$name" &&
    cmake --install "$work/$name" --prefix "$work/vendor"; } >"$work/log" 2>&1 ||
    fail "$name does not build"
  plugin=$work/$name/conduit_$name.so
  if nm -D --undefined-only "$plugin" | grep -E ' (gex_|gasnet|cwy)'; then
    fail "$name links symbols of the core"
  fi
done
(cd "$work" && "$tree/bin/causeway" check-plugin trace/conduit_trace.so --set over=self \
  --set size=64KiB) >"$work/log" 2>&1 || fail "check-plugin rejects trace"
"$tree/bin/causeway" check-plugin "$work/chaos/conduit_chaos.so" --set over=self \
  >"$work/log" 2>&1 || fail "check-plugin rejects chaos"

# Both in a row, in a tree that holds neither: chaos in front of trace in front of shm.
mkdir -p "$work/run"
cp -r "$tree" "$work/tree"
rm "$work"/tree/lib/causeway/2/conduit_trace.so "$work"/tree/lib/causeway/2/conduit_chaos.so
cat >"$work/both.yaml" <<END
plugins: {path: [$work/vendor/lib/causeway/2]}
conduits:
  watched: {plugin: trace, options: {over: shm, file: $work/run/t.%r, size: 256KiB}}
  rough: {plugin: chaos, options: {over: watched, seed: 11}}
peers:
  - {match: {locality: self}, use: [self]}
  - {use: [rough]}
END
timeout 100 "$work/tree/bin/causeway" run -n 3 --config "$work/both.yaml" "$client" \
  >"$work/log" 2>&1 || fail "a program fails over chaos and trace"
[ "$(grep -c '^rank [0-2] of 3: ok$' "$work/log")" = 3 ] || fail "not every rank finished its work"
grep -q 'chaos: in front of trace with seed 11' "$work/log" || fail "chaos does not say its seed"
"$tree/bin/causeway" trace "$work"/run/t.* >"$work/log" || fail "causeway trace cannot read it"
[ "$(grep -c '^rank [0-2] of 3 on .*, over shm' "$work/log")" = 3 ] || fail "not one trace per rank"
grep -Eq '^  am_(short|medium|commit) +[1-9]' "$work/log" || fail "no message was recorded"
rm -rf "$work/tree"
