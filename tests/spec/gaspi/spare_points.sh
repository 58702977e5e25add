#!/bin/sh
# A rank dies, and the spare that takes its place dies at a random moment afterwards; a second spare
# takes it then. Usage: spare_points.sh CAUSEWAY PROGRAM COUNT SEED [flags of causeway run]
# Catches: moments of joining at which a death makes the others hang, or takes the place for good.
# The seed is printed; the same seed gives the same moments.
set -eu
causeway=$1 program=$2 count=$3 seed=$4
shift 4
echo "spare points: $count with seed $seed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
state=$seed
i=0
while [ $i -lt "$count" ]; do
  i=$((i + 1))
  state=$(((state * 1103515245 + 12345) % 2147483648))
  moment=$((state / 1024 % 40000)) # microseconds from the rank's death
  if ! out=$("$causeway" run -n 3 --timeout 120 --spares 2 "$@" -- \
    "$program" joining 3 "$work/$i" $moment 2>&1); then
    : # the job's status is the victim's
  fi
  case $out in
    *"joining: well"*) ;;
    *)
      echo "$out"
      echo "spare points: number $i failed: the first spare killed $moment us after rank 1"
      exit 1
      ;;
  esac
done
echo "spare points: all well"
