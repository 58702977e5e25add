#!/bin/sh
# A rank ends the job with a code while the others' ends are told to it. Usage: late_events.sh CAUSEWAY
# VICTIM PRELOADED
# Catches: memory of PMIx that is freed at the end of a rank while an event of another rank's end is on
# its way through it, which ended one run of fifty by SIGSEGV.
set -u
causeway=$1 victim=$2 preloaded=$3
export MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.tcache_count=0
for try in 1 2 3; do
  "$causeway" run -n 3 --timeout 30 -- sh -c '
    if [ "$PMIX_RANK" = 2 ]; then LD_PRELOAD=$1; export LD_PRELOAD; fi
    exec "$2" depart one_while_others_wait' - "$preloaded" "$victim"
  status=$?
  [ "$status" = 5 ] || { echo "late_events: try $try ended with $status, expected 5" >&2; exit 1; }
done
