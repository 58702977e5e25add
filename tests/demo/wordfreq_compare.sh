#!/bin/bash
# Counts FILE with wordfreq on N ranks and with tr|sort|uniq, and compares everything.
# Would catch: words lost, doubled or cut at slice borders; counts lost on the way to their
# owners; results cut at the segment's size; a wrong order; wrong totals.
# usage: wordfreq_compare.sh CAUSEWAY WORDFREQ FILE N [RUN OPTIONS...]
set -euo pipefail
export LC_ALL=C
causeway=$1 wordfreq=$2 file=$3 ranks=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

words() { tr -cs A-Za-z '\n' < "$file" | tr A-Z a-z | sed '/^$/d'; }
words | sort | uniq -c | sed 's/^ *//' | sort -k1,1nr -k2,2 > "$work/expected"
timeout 110 "$causeway" run -n "$ranks" "$@" -- "$wordfreq" "$file" --top 0 > "$work/output"
grep -v '^#' "$work/output" > "$work/got" || true # no words: no lines
cmp "$work/expected" "$work/got" || {
  diff "$work/expected" "$work/got" | cut -c 1-100 | head -20
  exit 1
}
total="# $(words | grep -c . || true) words, $(wc -l < "$work/expected") different, counted by $ranks rank"
grep -q "^$total" "$work/output" || {
  echo "expected a line '$total', got:"
  grep '^#' "$work/output"
  exit 1
}

# The ten most frequent ones, as printed without an option.
timeout 110 "$causeway" run -n "$ranks" "$@" -- "$wordfreq" "$file" | grep -v '^#' > "$work/top" ||
  true
cmp <(head -10 "$work/expected") "$work/top"
