#!/bin/sh
# A handler of a signal ends the job with a code, over a network. Usage: signal_in_send.sh CAUSEWAY VICTIM
# PRELOADED CONFIGURATION
# Catches: a conduit that is entered by the end of a rank whose thread holds its locks already; three of
# twenty jobs hung that way.
set -u
causeway=$1 victim=$2 preloaded=$3 configuration=$4
"$causeway" run -n 2 --timeout 30 --config "$configuration" -- \
  env LD_PRELOAD="$preloaded" "$victim" exit_with signal 9 0
status=$?
[ "$status" = 9 ] || { echo "signal_in_send: the job ended with $status, expected 9" >&2; exit 1; }
