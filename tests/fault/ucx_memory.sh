#!/bin/bash
# ucx_memory.sh CAUSEWAY PROGRAM
# Two ranks over UCX's shared memory, whose objects keep their names, are killed in the middle of PROGRAM.
# Would catch: System V's segments, which the user's group can read; objects of UCX's that nobody removes.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp UCX_POSIX_USE_PROC_LINK=n
mkdir "$TMPDIR"
fail() {
  echo "FAILED: $*"
  cat "$work/out"
  exit 1
}
cat >"$work/ucx.yaml" <<EOF
conduits: {ucx: {plugin: ucx}}
peers:
  - {name: self, match: {locality: self}, use: [self]}
  - {name: host, match: {locality: host}, use: [ucx], require: true}
EOF
"$1" run -n 2 --timeout 60 --config "$work/ucx.yaml" -- \
  sh -c 'echo $$ >>"$0"; exec "$1"' "$work/ranks" "$2" >"$work/out" 2>&1 &
maps() {
  for rank in $(cat "$work/ranks" 2>/dev/null); do cat "/proc/$rank/maps"; done 2>/dev/null
}
for attempt in $(seq 1 300); do
  [ "$(maps | grep -c 'ucx_shm_posix')" -lt 2 ] || break
  sleep 0.1
done
[ "$attempt" -lt 300 ] || fail "the ranks map no object of UCX's"
job=$(ls "$TMPDIR")
maps | grep -q "/dev/shm/$job" || fail "the objects do not stand under the job's name, $job"
! maps | grep SYSV || fail "there are segments of System V"
kill -KILL $(cat "$work/ranks")
wait $!
[ $? = 137 ] || fail "status $?"
! ls -R /dev/shm | grep "$job" || fail "objects are left"
