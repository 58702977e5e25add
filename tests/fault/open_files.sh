#!/bin/bash
# open_files.sh CAUSEWAY PROGRAM CONFIGURATION
# Four ranks of PROGRAM that meet each other have fewer and fewer files.
# Would catch: ranks that wait for ever, and silently, since one cannot accept a connection; neighbors that take each
# other for ranks of other hosts; and a peer that is called unreachable where files are used up here.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
refused=0
for limit in 26 24 22 20 18 16 14; do
  "$1" run -n 4 --timeout 5 --config "$3" -- sh -c "ulimit -n $limit; exec \"\$0\" hello" "$2" >"$out" 2>&1 && continue
  refused=$((refused + 1))
  grep -q 'ulimit -n\|Too many open files\|maximal number of files' "$out" && ! grep -q 'killed by signal 11' "$out" && continue
  cat "$out"
  echo "FAILED: with $limit files"
  exit 1
done
[ "$refused" -ge 2 ] || { echo "FAILED: 14 files were enough"; exit 1; }
