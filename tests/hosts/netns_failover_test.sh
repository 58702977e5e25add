#!/bin/bash
# netns_failover_test.sh CAUSEWAY PROGRAM OVER SPARE CASE [BAD_CABLE]
# PROGRAM: over_cable, or the storm for the case of that name. OVER and SPARE: ofi, ucx or eth. Two hosts
# of two ranks and two cables, of which the first is cut while traffic is on that checks each byte, each
# number and each sum, and is laid again. Would catch: a job that ends with a cable, a message that is
# lost or comes twice, a sum counted twice, a pause of a second, a path that is not taken again, a loss
# that nobody is told of.
causeway=$1 program=$2 over=$3 spare=$4 case=$5
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
for conduit in failover "$over" "$spare"; do need_conduit "$conduit"; done
faults="delay=0"
case $case in silent) bad_cable=$6 ;; esac
make_hosts
lay_second_cable
began=$SECONDS
run_over() {
  run_hosts --config "$here/failover.yaml" --set "conduits.safe.options={over: $over, spare: other-$spare}" \
    --set log.level=info --set report=true --timeout 100 -- "$@"
}
cut_cable() {
  case $case in
    silent) kill -STOP "$cable_pid" ;;  # no packet, no error: both ends look whole
    *) ip -n $host_b link set cwy0 down ;;
  esac
}
lay_cable() {
  case $case in
    silent) kill -CONT "$cable_pid" ;;
    *) ip -n $host_b link set cwy0 up ;;
  esac
}

if [ $case = storm ]; then
  # The first cable comes and goes for as long as it takes.
  while sleep 1; do
    cut_cable
    sleep 1.5
    lay_cable
  done &
  weather=$!
  for seed in $(seq 1 "${storms:-40}"); do
    run_over "$program" --seed $seed --steps 200 --ops coll,rma,am,vis,team,threads,atomics,gaspi,legacy
    status=$?
    [ $status = 0 ] || { kill $weather; fail "storm with seed $seed: status $status"; }
    switches=$((${switches:-0} + $(grep -c ' safe: .*switches [1-9]' "$work/out")))
  done
  kill $weather
  ip -n $host_b link set cwy0 up
  echo "paths were switched in $switches of $seed jobs"
  [ $switches -gt 0 ] || fail "no path was ever switched"
  expect_nothing_left storm
  echo "passed in $((SECONDS - began)) s"
  exit 0
fi
run_over "$program" 8 10.78.0.2 &
job=$!
sleep 3
cut_cable
sleep 2
lay_cable
wait $job
expect_status 0 $? "traffic over two cables, of which one is cut"
expect_line "over_cable: [1-9][0-9]* rounds, 0 wrong"
expect_line "is no longer reached over $over (.*); going on over other-$spare"
expect_line "is reached over $over again"
expect_line "switches [1-9]"
! grep 'no part of UCX' "$work/out" || fail "UCX does not take its settings"
pause=$(sed -n 's/^over_cable: .* longest round \([0-9]*\) ms.*/\1/p' "$work/out")
grep '^over_cable' "$work/out"
[ "${pause:-10000}" -lt 1000 ] || fail "a round took $pause ms"
[ $case != silent ] || remove_cable
expect_nothing_left "$case"
echo "passed in $((SECONDS - began)) s"
