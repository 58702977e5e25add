#!/bin/sh
# Has spin go through every order of a model's steps: the model as it is holds, and each of its broken variants fails.
# Usage: run.sh MODEL.pml WORK HOLDS BROKEN: lists of definitions, of which a plain '-' is the model as it stands.
# Would catch: a fence or an order without which a message, a wake-up or a completion is lost on a weak machine.
set -eu
model=$1 work=$2 holds=$3 broken=$4
for program in spin cc; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed (tools/packages.txt, group tests)"; exit 77; }
done
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { cat pan.out 2>/dev/null || true; echo "models: $*"; exit 1; }
# try DEFINITION: leaves what the search said in pan.out.
try() {
  rm -f pan*
  spin ${1:+-D"$1"} -a "$model" >pan.out 2>&1 || fail "spin refuses $model ${1:-}"
  cc -O2 -w -DSAFETY -DMEMLIM=2048 -o pan pan.c >pan.out 2>&1 || fail "what spin made of $model ${1:-} does not compile"
  ./pan -m1000000 >pan.out 2>&1 || fail "the search of $model ${1:-} breaks off"
  grep -q '^State-vector' pan.out || fail "the search of $model ${1:-} says nothing"
  if grep -qE 'max search depth too small|out of memory|assertion violated \(newest\[' pan.out; then fail "the search of $model ${1:-} is not whole"; fi
}
for variant in $holds; do
  [ "$variant" != - ] || variant=
  try "$variant"
  grep -q 'errors: 0' pan.out || fail "$model ${variant} does not hold"
  echo "holds: ${variant:-as it stands}, $(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' pan.out) states"
done
for variant in $broken; do
  try "$variant"
  grep -q 'errors: [1-9]' pan.out || fail "$model holds although it is broken: $variant"
  echo "fails, as it should: $variant ($(sed -n 's/^pan:[0-9]*: \(.*\) (at depth.*/\1/p' pan.out))"
done
