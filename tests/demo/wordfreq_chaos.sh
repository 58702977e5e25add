#!/bin/bash
# Deaths that the conduit chaos injects: the job ends at once and says who died, and a trace behind
# it still tells what the dead rank did.
# Would catch: a death at operation N that does not come, a job that hangs or ends well after one,
# and records that are lost with the process.
# usage: wordfreq_chaos.sh CAUSEWAY WORDFREQ FILE CHAOS_CONFIG
set -uo pipefail
causeway=$1 wordfreq=$2 file=$3 config=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
complain() { cat "$work/out" "$work/err"; echo "chaos: $*"; exit 1; }
run() {
  timeout 100 "$causeway" run -n 3 --timeout 60 --config "$config" "$@" -- "$wordfreq" "$file" \
    >"$work/out" 2>"$work/err"
}

run --set "conduits.watched={plugin: trace, options: {over: shm, file: $work/t.%r, size: 1MiB}}" \
  --set conduits.chaos.options.over=watched --set conduits.chaos.options.die_at=6 \
  --set conduits.chaos.options.victim=1
status=$?
[ $status = 137 ] || complain "status $status instead of 137 after SIGKILL of rank 1"
grep -q 'rank 1' "$work/err" || complain "nobody says that rank 1 died"
"$causeway" trace --json "$work/t.1" >"$work/out" || complain "no trace of the dead rank"
grep -q '"rank":1' "$work/out" || complain "not rank 1's trace"
kept=$(grep -o '"kept":[0-9]*' "$work/out" | cut -d: -f2)
[ "$kept" -ge 6 ] || complain "only $kept records of 6 operations and more"

run --set conduits.chaos.options.fail_at=6 --set conduits.chaos.options.victim=2
status=$?
[ $status != 0 ] && [ $status != 124 ] || complain "status $status after a peer failed"
grep -q 'rank ' "$work/err" || complain "nobody says which rank failed"
