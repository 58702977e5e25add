#!/bin/bash
# open_files.sh CAUSEWAY PROGRAM CONFIGURATION
# Four ranks of PROGRAM that meet each other have fewer and fewer files.
# Would catch: ranks that wait for ever, and silently, since one cannot accept a connection; neighbors that take each
# other for ranks of other hosts; and a peer that is called unreachable where files are used up here.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
refused=0
# Not 24 to 27: over UCX some ranks then use memory of one that fails, which UCX 1.13 does not always survive.
for limit in 28 23 22 20 18 16 14; do
  "$1" run -n 4 --timeout 5 --config "$3" -- sh -c "exec 3>&- 4>&- 5>&-; ulimit -n $limit; exec \"\$0\" hello" "$2" \
    >"$out" 2>&1 && continue
  refused=$((refused + 1))
  grep -q 'ulimit -n\|Too many open files\|maximal number of files' "$out" && ! grep -q 'killed by signal 11' "$out" && continue
  cat "$out"
  echo "FAILED: with $limit files"
  exit 1
done
# Would catch SIGXFSZ where files may not grow: shared memory is a file. Through a pipe, since $out is one too.
for blocks in 0 400 20000; do
  (ulimit -f $blocks && exec "$1" run -n 2 --timeout 10 --config "$3" -- "$2" hello 2>&1) | cat >"$out"
  grep -q '^hello from 1\|ulimit -f' "$out" && ! grep -q 'killed by signal' "$out" && continue
  cat "$out"
  echo "FAILED: with files of $blocks blocks"
  exit 1
done
[ "$refused" -ge 2 ] || { echo "FAILED: 14 files were enough"; exit 1; }
