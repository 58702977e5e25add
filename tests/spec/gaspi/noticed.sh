#!/bin/sh
# How soon survivors notice that a process of their host was killed: within 100 ms. A machine that is
# busy with other things takes longer, so one of several jobs is enough.
# Usage: noticed.sh CAUSEWAY PROGRAM [flags of causeway run]
# Catches: a failure that is noticed by chance, or by a time limit.
set -eu
causeway=$1 program=$2
shift 2
for try in 1 2 3 4 5 6 7 8 9 10; do
  out=$("$causeway" run -n 3 --timeout 60 --on-failure=continue "$@" -- "$program" killed 20 2>&1) || :
  times=$(echo "$out" | sed -n 's/.*noticed after \([0-9]*\)\.[0-9]* ms$/\1/p')
  echo "job $try: noticed after" $times "ms"
  [ "$(echo "$times" | wc -w)" = 2 ] || { echo "$out"; exit 1; }
  late=0
  for time in $times; do [ "$time" -lt 100 ] || late=1; done
  [ $late = 1 ] || exit 0
done
echo "never within 100 ms"
exit 1
