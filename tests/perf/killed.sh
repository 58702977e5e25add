#!/bin/sh
# A bench that is killed while its jobs run: they end with it. Would catch: ranks and launchers that go on taking
# processors, and objects and files of theirs that stay. Usage: killed.sh CAUSEWAY
set -eu
work=$(mktemp -d)
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
trap 'rm -rf "$work"' EXIT
# The bench and what it has started, which have this test's folder in their environment: folders of /proc.
mine() {
  grep -lzxF "TMPDIR=$TMPDIR" /proc/[0-9]*/environ 2>/dev/null | sed 's|environ|comm|' |
    xargs -r grep -l '^causeway' 2>/dev/null | sed 's|/comm||' || true
}
# Objects that they had mapped and that are still there.
objects() { sort -u "$work/objects" | xargs -r ls -d 2>/dev/null || true; }
# killed WHAT BENCH-OPTION...
killed() {
  what=$1
  shift
  "$causeway" bench "$@" >"$work/said" 2>&1 &
  bench=$!
  tries=0
  until [ "$(mine | wc -l)" -ge 3 ]; do
    tries=$((tries + 1))
    [ $tries -lt 500 ] || { echo "killed: $what: no job has started"; cat "$work/said"; exit 1; }
    sleep 0.02
  done
  for process in $(mine); do sed -n 's|.* \(/dev/shm/[^ ]*\)$|\1|p' "$process/maps" 2>/dev/null || true; done >"$work/objects"
  kill -9 $bench
  wait $bench 2>/dev/null || true
  for _ in $(seq 200); do
    [ -n "$(mine)$(objects)" ] || break
    sleep 0.05
  done
  left="$(mine | tr '\n' ' ')$(objects)$(ls "$TMPDIR")"
  [ -z "$left" ] || { echo "killed: $what leaves $left"; exit 1; }
}
causeway=$1
killed "the bench"
killed "a sweep" --sweep put
killed "growth" --scale 8,16,32
