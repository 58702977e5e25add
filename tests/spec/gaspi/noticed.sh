#!/bin/sh
# How soon survivors notice that a process of their host was killed: within 100 ms, in the median of ten
# jobs, where the later survivor of each counts. A machine that has more to do than processors takes
# longer: there it is measured and told, and the test is skipped (77).
# Usage: noticed.sh CAUSEWAY PROGRAM [flags of causeway run]
# Catches: a failure that is noticed by chance, or by a time limit.
set -eu
causeway=$1 program=$2
shift 2
jobs=10 limit=100 busy=20 # ms; beyond that without a processor, the machine is busy
# The largest of the numbers, one to a line, as whole ones.
largest() { sort -n | tail -n 1 | cut -d. -f1; }
# The upper one of the two in the middle.
median() { tr ' ' '\n' | sed '/^$/d' | sort -n | sed -n "$((jobs / 2 + 1))p"; }

all='' all_waited=''
for job in $(seq $jobs); do
  out=$("$causeway" run -n 3 --timeout 60 --on-failure=continue "$@" -- "$program" later 2>&1) || :
  times=$(echo "$out" | sed -n 's/.*noticed after \([0-9.]*\) ms, .*/\1/p')
  waited=$(echo "$out" | sed -n 's/.* ms, at most \([0-9.]*\) of them without a processor$/\1/p')
  echo "job $job: noticed after" $times "ms; without a processor" $waited
  [ "$(echo "$times" | wc -w)" = 2 ] || { echo "$out"; exit 1; }
  all="$all $(echo "$times" | largest)" all_waited="$all_waited $(echo "$waited" | largest)"
done
time=$(echo "$all" | median) waited=$(echo "$all_waited" | median)
echo "median of $jobs: noticed after $time ms, $waited ms without a processor"
[ "$time" -ge $limit ] || exit 0
read -r load rest </proc/loadavg
if [ "$waited" -gt $busy ] || [ "${load%.*}" -ge "$(nproc)" ]; then
  echo "SKIPPED: measured only: the machine is busy (load $load on $(nproc) processors)"
  exit 77
fi
echo "not within $limit ms, and the machine is not busy (load $load on $(nproc) processors)"
exit 1
