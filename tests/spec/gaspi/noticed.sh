#!/bin/sh
# How soon survivors notice that a process of their host was killed: within 100 ms, in every one of ten
# jobs, where the later survivor of each counts. A machine that has more to do than processors takes
# longer at times: there it is measured and told, and the test is skipped (77).
# Usage: noticed.sh CAUSEWAY PROGRAM [flags of causeway run]
# Catches: a failure that is noticed by chance, or by a time limit.
set -eu
causeway=$1 program=$2
shift 2
jobs=10 limit=100 busy=20 # ms; beyond that without a processor, the machine is busy
# The largest of the numbers, one to a line, as whole ones.
largest() { sort -n | tail -n 1 | cut -d. -f1; }
late=0 late_with_processor=0 # jobs; those that had a processor all the time
for job in $(seq $jobs); do
  # In the midst of the start's last words, as far as the launcher is concerned, or long after them.
  [ $((job % 2)) -eq 0 ] && when=later || when='killed 20'
  out=$("$causeway" run -n 3 --timeout 60 --on-failure=continue "$@" -- "$program" $when 2>&1) || :
  times=$(echo "$out" | sed -n 's/.*noticed after \([0-9.]*\) ms, .*/\1/p')
  waited=$(echo "$out" | sed -n 's/.* ms, at most \([0-9.]*\) of them without a processor$/\1/p')
  echo "job $job ($when): noticed after" $times "ms; without a processor" $waited
  [ "$(echo "$times" | wc -w)" = 2 ] || { echo "$out"; exit 1; }
  [ "$(echo "$times" | largest)" -ge $limit ] || continue
  late=$((late + 1))
  [ "$(echo "$waited" | largest)" -gt $busy ] || late_with_processor=$((late_with_processor + 1))
done
echo "$late of $jobs jobs noticed after $limit ms or more"
[ $late -gt 0 ] || exit 0
read -r load rest </proc/loadavg
if [ $late_with_processor -eq 0 ] || [ "${load%.*}" -ge "$(nproc)" ]; then
  echo "SKIPPED: measured only: the machine is busy (load $load on $(nproc) processors)"
  exit 77
fi
echo "not within $limit ms, and the machine is not busy (load $load on $(nproc) processors)"
exit 1
