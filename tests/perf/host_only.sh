#!/bin/bash
# A program that uses host memory only executes the same instructions whether memory kinds of devices
# may be used or not, and loads none of their plugins.
# Usage: host_only.sh CAUSEWAY BENCH_PROGRAM
# Catches: polls that look at devices, and a plugin that is loaded before it is asked for.
set -euo pipefail
causeway=$1 program=$2
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }

# Polls that find nothing: what every waiting call consists of. Looks at the peers' state now and then,
# by the clock, which moves the average by a fraction of an instruction.
count() { # instructions of a poll
  "$causeway" bench --quick --json --only instr.am.poll "$@" |
    sed -n 's/.*"name": "instr.am.poll", "ours": \([0-9.]*\).*/\1/p'
}
with=$(count --set 'plugins.memkinds=[host, cuda, hip, ze]')
without=$(count --set 'plugins.memkinds=[host]')
echo "instructions of a poll: $with where kinds may be used, $without where they may not"
awk -v a="$with" -v b="$without" 'BEGIN { d = a - b; exit !(a > 0 && b > 0 && d < 1 && d > -1) }' ||
  { echo "the counts differ"; exit 1; }

loaded=$(LD_DEBUG=files "$causeway" run -n 1 -- "$program" --launch startup 2>&1 |
  grep -o 'memkind_[a-z]*\.so' | grep -v memkind_host | sort -u || true)
[ -z "$loaded" ] || { echo "loaded without being asked for: $loaded"; exit 1; }
