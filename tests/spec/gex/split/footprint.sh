#!/bin/sh
# What other ranks cost a process in memory.
# Usage: footprint.sh CAUSEWAY CONTACTS_PROGRAM MANY PLUGINS [CONFIG_OF_OFI]
# Would catch: connections that nobody asked for, a rank that was never contacted and costs more than
# 64 bytes, with as many ranks as MANY, or 1 KiB, where few ranks fetch each other's cards, with as
# many conduits as the default has between hosts; and what
# grows with the ranks and is not counted; and what a conduit maps for a connection and is not told,
# in connect() (the conduit window of PLUGINS, 1 MiB) or later, while the connection comes up (ofi).
set -eu
causeway=$1 program=$2 many=$3 plugins=$4
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
  most=1024
  [ "$ranks" -lt "$many" ] || most=64
  [ "$cost" -ge 24 ] && [ "$cost" -le $most ] || fail "a rank that was never contacted costs '$cost'"
}
says() { grep -q "$1" "$work/out" || fail "no line with '$1'"; }

run "$many" 0
says 'connections: none$'
all=$heap
run $((many / 4)) 0
# With what the PMIx library keeps of each rank, which is most of it.
each=$(((all - heap) / (many - many / 4)))
[ "$each" -le 6144 ] || fail "each rank more costs the process $each bytes of its heap"

# told CONDUIT: what its three connections took.
told() {
  says "connections: $1 3 of [1-9][0-9]* bytes and [0-9]* shared\$"
  own=$(sed -n 's/^memory: .* of \([0-9]*\) bytes and .*/\1/p' "$work/out")
  shared=$(sed -n 's/^memory: .* and \([0-9]*\) shared$/\1/p' "$work/out")
}
run 5 3
told shm
shm=$shared
mebibyte=1048576
export WINDOW_MAPS=$mebibyte
run 5 3 --set "plugins.path=[$plugins]" --set conduits.window.plugin=window \
  --set "peers=[{match: {locality: self}, use: [self]}, {use: [window]}]"
unset WINDOW_MAPS
told window
[ "$own" -ge "$mebibyte" ] && [ "$own" -le $((mebibyte * 5 / 4)) ] || fail "1 MiB each is told as '$own'"
[ $((shared - shm)) -ge $((2 * mebibyte)) ] || fail "2 MiB of shared memory each are told as '$shared'"
if [ -n "${5:-}" ]; then
  run 5 3 --config "$5"
  told ofi
  [ "$own" -ge 200000 ] || fail "receive buffers are told as '$own'"
fi
run 8 0 --set conduits.ucx.open=always --set conduits.ofi.open=always --set plugins.on_load_error=ignore
says 'connections: none$'

# The same figures by the command, as the program of a job.
"$causeway" run -n 4 --timeout 100 "$causeway" info --peers >"$work/out" 2>&1 || fail "info --peers"
says '^[1-9][0-9]* bytes of each rank never contacted; connections: shm 3 of [1-9][0-9]* bytes and [0-9]* shared$'
"$causeway" run -n 4 --timeout 100 "$causeway" info --peers --json >"$work/out" 2>&1 || fail "its JSON"
says '^{"uncontacted":[1-9][0-9]*,"connections":\[{"conduit":"shm","connections":3,"bytes":[1-9][0-9]*,"shared":[0-9]*}\]}$'
! "$causeway" info --peers >"$work/out" 2>&1 || fail "info --peers without a job succeeded"
says 'causeway run -n 4 causeway info --peers'
