#!/bin/sh
# Sweeps in short. Would catch: a size or an operation that is left out or hangs, bounds that do not hold the figure, a
# message of no kind, an earlier run that is not found again by size, a range or a word that makes no sense and is
# taken. Usage: sweep.sh CAUSEWAY CHECK_BENCH_JSON [NETWORK]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "sweep: $1" >&2
  cat "$work"/* >&2
  exit 1
}
causeway=$1 checker=$2
bench() { timeout 100 "$causeway" bench --quick "$@"; }
if [ $# = 3 ]; then
  bench --sweep put,get,am,allreduce --sizes 8-32 --network "$3" --json "$work/json" >"$work/table" || fail "status $?"
  [ "$("$checker" <"$work/json")" = 21 ] || fail "figures over $3"
  exit
fi
bench --sweep --sizes 8-16KiB --json "$work/json" >"$work/table" || fail "status $?"
[ "$("$checker" <"$work/json")" = 84 ] || fail "not 12 sizes of 7 figures"
[ "$(grep -c '^  16 KiB ' "$work/table")" = 7 ] || fail "tables"
bench --sweep am --sizes 64KiB-128KiB --compare "$work/json" >"$work/table" || fail "status $?"
grep -Eq '^  128 KiB .* - +- +long$' "$work/table" || fail "no long message, or a figure of nobody's"
COLUMNS=80 bench --sweep put --sizes 16KiB-16KiB --compare "$work/json" >"$work/table" || fail "status $?"
grep -Eq '^  16 KiB .* (same|[-+][0-9]+ %)$' "$work/table" || fail "no earlier figure"
! grep -Eq '.{81}' "$work/table" || fail "too wide"
refused() {
  status=0
  timeout 20 "$causeway" bench "$@" >"$work/said" 2>&1 || status=$?
  [ $status = 2 ] && grep -qF -- "$said" "$work/said" || fail "$*: status $status"
}
said="'pt' is no operation that can be swept; there are put, get, am, allreduce; did you mean 'put'?" refused --sweep put,pt
said='--sizes: requires --sweep or --report' refused --sizes 8-64
said='--only: excludes --sweep, --scale and --report' refused --only put8.same --sweep put
for sizes in 4-8 12-24 64-8 8-8MiB 8-x -; do
  said="'$sizes' is no range of sizes such as 8-4MiB" refused --sweep put "--sizes=$sizes"
done
