#!/bin/sh
# The port of each adapter goes down under a job, twice, and comes back.
# Usage: port.sh CAUSEWAY WORK_DIR PROGRAM LAUNCHER_FLAG...
# Catches: a device whose return nobody is told, a second fall that is no news, a job that a pause ends,
# packets that go over a port that is down, and counts of ep_traffic that `causeway ps` does not show.
set -eu
causeway=$1 work=$2 program=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
port=$work/port out=$work/out
"$causeway" run -n 2 --timeout 60 "$@" --set "conduits.simnic.options.port_file=$port" -- \
  "$program" am_storm >"$out" 2>&1 &
job=$!
trap 'kill "$job" 2>/dev/null || true' EXIT

fail() {
  cat "$out"
  echo "port: $1"
  exit 1
}
# await COMMAND...: until it succeeds
await() {
  tries=600
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "waited in vain: $*"
    sleep 0.05
  done
}
# One rank of a host says it.
told() { [ "$(grep -c "device simnic0 is $1" "$out")" -eq "$2" ]; }
# All numbers that the ranks tell of messages of each other.
counts() { "$causeway" ps "$job" --json | grep -oE '"(sent|received)(_bytes)?": ?[0-9]+'; }
moving() { counts | grep -qE '"received_bytes": ?[1-9]'; }

await moving
for turn in 1 2; do
  touch "$port"
  await told "down: its port is down" "$turn"
  sleep 0.2 # the other rank sees it, too
  before=$(counts | grep received) || fail "no counts while the port is down"
  sleep 0.2
  [ "$(counts | grep received)" = "$before" ] || fail "something came over a port that is down"
  rm "$port"
  await told "up again after" "$turn"
done
status=0
wait "$job" || status=$?
trap - EXIT
[ $status -eq 0 ] || fail "the job ended with $status"
