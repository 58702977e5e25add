#!/bin/sh
# A report of short sweeps and of two numbers of ranks: one file that needs nothing from elsewhere, that XML's own
# readers take, and whose plots are drawn. Would catch: a place of the template that is not filled, a plot or a table
# that is missing, something that a page would fetch or run, text that is not escaped, an SVG that readers refuse.
# Usage: report.sh CAUSEWAY CHECK_BENCH_JSON
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "report: $1" >&2
  head -c 3000 "$work"/said >&2
  exit 1
}
causeway=$1 checker=$2
bench() { timeout 100 "$causeway" bench --quick "$@" >"$work/table" 2>"$work/said"; }
bench --sweep am,allreduce --sizes 8-256 --scale 2,4 --report "$work/new/report" || fail "status $?"
cd "$work/new/report"
"$checker" <sweep.json >"$work/figures" || fail "sweep.json"
[ "$(cat "$work/figures")" = 18 ] || fail "not 6 sizes of 3 figures"
"$checker" <scale.json >"$work/figures" || fail "scale.json"
[ "$(grep -c '<svg ' index.html)" = 6 ] || fail "plots"
[ "$(grep -c '<table>' index.html)" = 5 ] || fail "tables"
[ "$(grep -o 'Causeway, [^<]*</title>' index.html | wc -l)" = 18 ] || fail "points of ours"
[ "$(grep -o '>raw loop, [^<]*</title>' index.html | wc -l)" = 18 ] || fail "points of the raw loop"
! grep -F '{{' index.html || fail "a place that is not filled"
! sed 's| xmlns="http://www.w3.org/2000/svg"||g' index.html | grep -nE '://|<script|<link|<iframe|src=|href=|url\(|@import|javascript:' ||
  fail "the page is not all there is"
awk -v at="$work/plot" '/<svg /{ out = at (++n) ".svg" } out { print > out } /<\/svg>/{ close(out); out = "" }' index.html
if command -v xmllint >"$work/which"; then
  xmllint --noout --nonet index.html "$work"/plot*.svg || fail "no XML"
elif command -v python3 >"$work/which"; then
  for file in index.html "$work"/plot*.svg; do
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$file" || fail "$file is no XML"
  done
fi
if command -v rsvg-convert >"$work/which"; then
  for file in "$work"/plot*.svg; do
    rsvg-convert "$file" >"$file.png" || fail "$file is not drawn"
    [ "$(wc -c <"$file.png")" -gt 5000 ] || fail "$file is empty"
  done
else
  echo "report: rsvg-convert is not installed: the plots were read, not drawn"
fi
bench --sweep am --sizes 8-32 --compare sweep.json --report "$work/again" || fail "status $?"
[ "$(grep -o '>Causeway, earlier run, [^<]*</title>' "$work/again/index.html" | wc -l)" = 6 ] || fail "the earlier run"
status=0
bench --sweep am --sizes 8-8 --scale 2 --report "$work/r" --json "$work/one" || status=$?
[ $status = 2 ] && grep -q -- '--json: holds --sweep or --scale; --report writes both' "$work/said" || fail "status $status"
! bench --sweep am --sizes 8-8 --report "$work/table/r" || fail "a directory that cannot be"
grep -q 'table/r cannot be made: Not a directory' "$work/said" || fail "no line says so"
