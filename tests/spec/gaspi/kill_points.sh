#!/bin/sh
# Kills a rank at random moments, again and again, and expects the survivors to go on each time.
# Usage: kill_points.sh CAUSEWAY PROGRAM COUNT SEED [flags of causeway run]
# Catches: moments at which a death makes survivors hang, crash, or take a wrong answer for a right
# one. The seed is printed; the same seed gives the same moments.
set -eu
causeway=$1 program=$2 count=$3 seed=$4
shift 4
echo "kill points: $count with seed $seed"
state=$seed
i=0
while [ $i -lt "$count" ]; do
  i=$((i + 1))
  state=$(((state * 1103515245 + 12345) % 2147483648))
  moment=$((state / 1024 % 60000)) # microseconds from the start of the work
  ranks=$((2 + state / 65536 % 3))
  if ! out=$("$causeway" run -n $ranks --timeout 120 --on-failure=continue "$@" -- \
    "$program" at $moment 2>&1); then
    : # the job's status is the victim's
  fi
  case $out in
    *"at: well"*) ;;
    *)
      echo "$out"
      echo "kill points: number $i failed: $ranks ranks, rank 1 killed after $moment us"
      exit 1
      ;;
  esac
done
echo "kill points: all well"
