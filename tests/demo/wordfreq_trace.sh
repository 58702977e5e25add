#!/bin/bash
# Runs wordfreq over the conduit trace and compares what the ranks recorded of each other.
# Would catch: messages that are not recorded, or twice; a file that a rank does not leave behind
# when it exits, or that the reader cannot read; a trace that changes the results; two that share a file.
# Also: time lines that no viewer takes, or whose arrows are not the messages; a picture that is not one.
# usage: wordfreq_trace.sh CAUSEWAY WORDFREQ FILE TRACE_CONFIG CHECK_TIMELINE
set -euo pipefail
causeway=$1 wordfreq=$2 file=$3 config=$4 check=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

timeout 60 "$causeway" run -n 3 -- "$wordfreq" "$file" --top 0 | grep -v '^#' >"$work/expected"
timeout 60 "$causeway" run -n 3 --config "$config" --set "conduits.trace.options.file=$work/t.%r" \
  --set conduits.trace.options.size=64MiB -- "$wordfreq" "$file" --top 0 | grep -v '^#' >"$work/got"
cmp "$work/expected" "$work/got"

"$causeway" trace "$work"/t.0 "$work"/t.1 "$work"/t.2 >"$work/summary"
[ "$(grep -c '^rank [012] of 3 on .*, over shm' "$work/summary")" = 3 ]
# A message that was delivered was sent, once; few are still on their way when a rank exits.
"$causeway" trace --lines "$work"/t.0 "$work"/t.1 "$work"/t.2 >"$work/lines"
awk '
  NF != 8 { print "not a record: " $0; bad = 1 }
  $4 ~ /^am_(short|medium|long|commit)$/ && $5 == "posted" && $7 != "RETRY" { sent[$2 "->" $3]++; all++ }
  $4 ~ /^received_/ && $5 == "posted" { received[$3 "->" $2]++; arrived++ }
  $4 == "put" || $4 == "get" { rma++ }
  END {
    for (pair in received) if (received[pair] > sent[pair]) {
      print pair ": " received[pair] " received of " sent[pair] " sent"; bad = 1
    }
    if (arrived < 10 || all - arrived > all / 2 + 20) { print arrived " received of " all " sent"; bad = 1 }
    if (rma == 0) { print "no put or get was recorded"; bad = 1 }
    exit bad
  }' "$work/lines"

# An arrow for each message that has arrived.
"$causeway" trace --perfetto "$work/json" --svg "$work/svg" "$work"/t.0 "$work"/t.1 "$work"/t.2 2>"$work/about"
grep -q '^causeway trace: 3 rank(s), .*; one host, one clock$' "$work/about"
"$check" "$work/json" >"$work/checked"
arrived=$(awk '$4 ~ /^received_/ && $5 == "posted"' "$work/lines" | wc -l)
[ "$(cat "$work/checked")" = "3 ranks, $arrived arrows" ] || { cat "$work/checked"; echo "not $arrived"; exit 1; }
[ "$(grep -c '<title>rank [012] to rank [012]: [0-9]* bytes in' "$work/svg")" = 6 ]
tail -n 1 "$work/svg" | grep -qx '</svg>'

# Two conduits, one file: the second would cut what the first has mapped.
cat >"$work/two.yaml" <<END
conduits:
  first: {plugin: trace, options: {over: shm, file: $work/u.%r}}
  second: {plugin: trace, options: {over: shm, file: $work/u.%r}}
peers:
  - {match: {locality: self}, use: [self]}
  - {use: [first], operations: {put: second}}
END
if timeout 60 "$causeway" run -n 2 --config "$work/two.yaml" -- "$wordfreq" "$file" --top 0 \
  >/dev/null 2>"$work/why"; then
  echo "two conduits record in one file"
  exit 1
fi
grep -q 'belongs to another conduit of this plugin' "$work/why"

# What is read is neither counted twice nor written over.
! "$causeway" trace "$work/t.0" "$work/t.0" >/dev/null 2>"$work/why"
grep -q 't.0: is named twice' "$work/why"
cp "$work/t.0" "$work/before"
! "$causeway" trace --svg "$work/t.0" "$work/t.0" 2>"$work/why"
grep -q 't.0: is a trace that is read' "$work/why"
cmp "$work/t.0" "$work/before"

# Damage is reported, not believed.
head -c 5000 "$work/t.0" >"$work/cut"
"$causeway" trace "$work/cut" >"$work/of_cut" 2>"$work/why"
grep -q 'cut: the file was cut: [0-9]* of its records are missing' "$work/why"
grep -q '^  18 records in ' "$work/of_cut" # (5000 - 4096) / 48: all that are whole
head -c 100 "$work/t.0" >"$work/shorter"
! "$causeway" trace "$work/shorter" 2>"$work/why"
grep -q 'is not a trace that this version reads' "$work/why"
for at in 24 48; do # the room for records, and how many there were
  cp "$work/t.0" "$work/damaged"
  printf '\377\377\377\377\377\377\377\177' | dd of="$work/damaged" bs=1 seek=$at conv=notrunc 2>/dev/null
  ! timeout 20 "$causeway" trace "$work/damaged" 2>"$work/why"
  grep -q 'damaged: is damaged: ' "$work/why"
done
