#!/bin/sh
# What other ranks cost a process in memory. Usage: footprint.sh CAUSEWAY CONTACTS_PROGRAM MANY
# Would catch: connections that nobody asked for, a rank that was never contacted and costs more than
# 2 KiB, with as many ranks as MANY or as many conduits as the default has between hosts, and what
# grows with the ranks and is not counted.
set -eu
causeway=$1 program=$2 many=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "footprint: $1" >&2
  sed 's/^/  | /' "$work/out" >&2
  exit 1
}
# run RANKS CONTACTS FLAGS...
run() {
  ranks=$1 contacts=$2
  shift 2
  "$causeway" run -n "$ranks" --timeout 100 "$@" -- "$program" "$contacts" >"$work/out" 2>&1 ||
    fail "status $?"
  cost=$(sed -n 's/^memory: \([0-9]*\) bytes of each rank never contacted; .*/\1/p' "$work/out")
  heap=$(sed -n 's/^heap: \([0-9]*\) bytes$/\1/p' "$work/out")
  [ "$cost" -ge 100 ] && [ "$cost" -le 2048 ] || fail "a rank that was never contacted costs '$cost'"
}
says() { grep -q "$1" "$work/out" || fail "no line with '$1'"; }

run "$many" 0
says 'connections: none$'
all=$heap
run $((many / 4)) 0
# With what the PMIx library keeps of each rank, which is most of it.
each=$(((all - heap) / (many - many / 4)))
[ "$each" -le 6144 ] || fail "each rank more costs the process $each bytes of its heap"

run 8 3
says 'connections: shm 3 of [1-9][0-9]* bytes$'
run 8 0 --set conduits.ucx.open=always --set conduits.ofi.open=always --set plugins.on_load_error=ignore
says 'connections: none$'

# The same figures by the command, as the program of a job.
"$causeway" run -n 4 --timeout 100 "$causeway" info --peers >"$work/out" 2>&1 || fail "info --peers"
says '^[1-9][0-9]* bytes of each rank never contacted; connections: shm 3 of [1-9][0-9]* bytes$'
"$causeway" run -n 4 --timeout 100 "$causeway" info --peers --json >"$work/out" 2>&1 || fail "its JSON"
says '^{"uncontacted":[1-9][0-9]*,"connections":\[{"conduit":"shm","connections":3,"bytes":[1-9][0-9]*}\]}$'
! "$causeway" info --peers >"$work/out" 2>&1 || fail "info --peers without a job succeeded"
says 'causeway run -n 4 causeway info --peers'
