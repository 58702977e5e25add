#!/bin/sh
# Every column of every step of `bench --scale`, the powers that they grow with, and the same as JSON and as a
# plot. Would catch: a figure that is not measured, JSON that lacks one, an SVG that a reader refuses or that lacks
# a figure's line; progress in files, or none at a terminal. Usage: scale.sh CAUSEWAY CHECK_BENCH_JSON
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "scale: $1" >&2
  cat "$work"/* >&2
  exit 1
}
timeout 100 "$1" bench --scale 2,5 --quick --json "$work/json" --plot "$work/svg" >"$work/table" 2>"$work/said" || fail "status $?"
[ ! -s "$work/said" ] || fail "progress in a file"
grep -Eq '^5( +[0-9.]+)+$' "$work/table" && grep -Eq '^growth( +-?[0-9.]+)+$' "$work/table" || fail "no table"
! grep -q failed "$work/table" || fail "a figure is missing"
figures=$("$2" <"$work/json") || fail "JSON"
[ "$figures" -ge 10 ] || fail "$figures figures"
[ "$(grep -c '<polyline [^>]*points="[0-9.]*,[0-9.]* [0-9.]*,[0-9.]* "/>' "$work/svg")" = "$figures" ] || fail "lines of the plot"
if command -v xmllint >"$work/which"; then
  xmllint --noout "$work/svg" || fail "the plot is no XML"
elif command -v python3 >"$work/which"; then
  python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/svg" || fail "the plot is no XML"
fi
! timeout 100 "$1" bench --scale 2 --quick --json "$work/none/json" >"$work/table" 2>&1 || fail "a file that cannot be"
grep -q 'none/json cannot be written: No such file' "$work/table" || fail "no line says so"
if command -v script >"$work/which"; then
  timeout 100 script -qec "'$1' bench --scale 2 --quick" /dev/null >"$work/screen" || fail "status $? at a terminal"
  grep -q 'causeway bench: 2 ranks, job 1 of 1' "$work/screen" || fail "no progress at a terminal"
fi
