#!/bin/bash
# netns_gaspi_test.sh CAUSEWAY FAILURE HEAT NETWORK CASE
# NETWORK: ofi or ucx. GASPI on two hosts when one is cut off, or when a rank is replaced by a spare
# of the other. Would catch: survivors that wait for a host that is silent, take a living rank for
# dead, lose their memory or cannot form a group; a spare that is looked for on the wrong host; a
# stopped rank of another host that cannot be ended.
causeway=$1 failure=$2 heat=$3 network=$4 case=$5
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
need_conduit "$network"
make_hosts
began=$SECONDS
config="--config $here/$network.yaml"
bound=4 # seconds: timeouts.peer

await() {
  for attempt in $(seq 1 300); do
    grep -q -- "$1" "$work/out" 2>/dev/null && return 0
    sleep 0.1
  done
  fail "the job did not come so far: '$1'"
}

cut_off() {
  ip -n $host_b link set cwy0 down
  cut=$SECONDS
}

# Rank 1 alone is on the other host.
printf '%s\n%s\n%s\n' $host_a $host_b $host_a >"$work/hosts"
case $case in
  cut)
    # In the middle of everything: write_notify, allreduce, segment_create.
    run_hosts $config --set timeouts.peer=${bound}s --on-failure=continue --timeout 100 -- \
      "$failure" killed 1000000000 &
    job=$!
    sleep 4
    cut_off
    wait $job
    expect_line "host $host_b is lost"
    expect_line "the others go on"
    expect_line "killed: well"
    [ $((SECONDS - cut)) -le $((bound + 30)) ] || fail "it took $((SECONDS - cut)) s"
    ;;
  heat)
    on_a "$causeway" run -n 1 --timeout 60 -- "$heat" --size 64 --iterations 400 >"$work/alone" 2>&1
    run_hosts $config --set timeouts.peer=${bound}s --on-failure=continue --timeout 100 -- \
      "$heat" --size 64 --iterations 400 --pause 5000 --shrink &
    job=$!
    await '# 3 workers begin'
    sleep 0.5
    cut_off
    wait $job
    expect_line "# 2 workers go on"
    expect_line "$(grep '^64 x 64' "$work/alone")"
    ;;
  spare)
    # The spare lies on the first host; then rank 1, of the second host, fails.
    on_a "$causeway" run -n 1 --timeout 60 -- "$heat" --size 64 --iterations 400 >"$work/alone" 2>&1
    run_hosts $config --spares 1 --timeout 100 -- "$heat" --size 64 --iterations 400 --die 1 130
    expect_line "spare 0 is rank 1"
    expect_line "# 3 workers go on from iteration 120"
    expect_line "$(grep '^64 x 64' "$work/alone")"
    ;;
  stopped)
    # gaspi_proc_kill of a rank that is stopped: the launcher alone reaches it there.
    run_hosts $config --on-failure=continue --timeout 100 -- "$failure" stopped_killed
    expect_line "stopped_killed: well"
    ;;
  *) fail "no case '$case'" ;;
esac
expect_nothing_left "$case"
echo "passed in $((SECONDS - began)) s"
