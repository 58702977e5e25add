#!/bin/bash
# Two runs of two figures, and what `bench --compare` says of them. Would catch: a change that is not the quotient of
# both, a figure that the earlier run lacks and that gets another's, or of which nobody says so, a file that is no run and is
# taken for one, or refused in the words of a parser.
# Usage: compare.sh CAUSEWAY
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "compare: $1" >&2
  cat "$work"/* >&2
  exit 1
}
bench() { timeout 100 "$causeway" bench --quick "$@"; }
causeway=$1
cat >"$work/before" <<END
{"figures": [{"name": "put8.same", "ours": 100, "raw": 50}, {"name": "nobody", "ours": 1, "raw": null}]}
END
bench --only put8.same,get8.same --compare "$work/before" >"$work/table" || fail "status $?"
grep -Eq '^figure +ours +95 % +mad +raw +unit +ratio +before +change +was +target' "$work/table" || fail "no columns"
grep -Eq '^put8.same .* 100\.0 +-(100|9[0-9]) % +2\.00 ' "$work/table" || fail "no change"
grep -Eq '^get8.same .* - +- +- ' "$work/table" || fail "a figure of nobody's"
[ "$(tail -n 1 "$work/table")" = "'-' in the column 'before': $work/before does not have the figure" ] || fail "no word of '-'"
bench --only put8.same --json "$work/now" --compare "$work/before" >"$work/table" || fail "status $?"
grep -Eq '"before": 100, "change": -0\.9' "$work/now" || fail "JSON"
! grep -q 'does not have' "$work/table" || fail "a figure that is there"
mkfifo "$work/pipe"
status=0
bench --only put8.same --compare "$work/pipe" >"$work/table" 2>"$work/said" || status=$?
[ $status = 1 ] && grep -q "^causeway bench: $work/pipe: not a regular file" "$work/said" || fail "a pipe: status $status"
rm "$work/pipe"
for text in 'nonsense' '{"figures": []}' '{"figures": [{"name": "put8.same"}]}'; do
  echo "$text" >"$work/bad"
  status=0
  bench --only put8.same --compare "$work/bad" >"$work/table" 2>"$work/said" || status=$?
  [ $status = 1 ] && grep -qx "causeway bench: '$work/bad' is no report of .causeway bench --json. on figures or sweeps" "$work/said" || fail "$text: status $status"
done
