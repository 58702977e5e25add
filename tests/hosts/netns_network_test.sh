#!/bin/bash
# netns_network_test.sh CAUSEWAY SPEC WORDFREQ NETWORK CASE [BAD_CABLE [OVER_CABLE SECONDS FAULTS] | VICTIM [TIMES] | INTRUDER]
# NETWORK: ofi, ucx or eth; or default, without a configuration: what a user with two hosts and no file
# has, where the default route tells which interface leads to the other host. GASNet-EX programs on
# two hosts of two ranks: shared memory inside, the network between. Would catch: a neighborhood that
# spans hosts, an interface that does not lead to the peer, a class of operations that only works
# within a host; on bad cables: lost or doubled messages, waits without an end; at ends: a rank that
# another host's exit with 0 cuts off.
causeway=$1 spec=$2 wordfreq=$3 network=$4 case=$5
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
plugins=$(dirname "$causeway")/../lib/causeway/2
config="--config $here/$network.yaml"
if [ "$network" = default ]; then
  config= network=eth
  default_route=yes
fi
need_conduit "$network"
faults="delay=2 jitter=1 loss=1"
case $case in
  bad-cable) bad_cable=$6 ;;
  over-cable) bad_cable=$6 faults=${9/mtu/} mtu=${9##* } ;;
esac
make_hosts
if [ -n "${default_route:-}" ]; then
  for host in $host_a $host_b; do ip -n $host route add default dev cwy0; done
fi
began=$SECONDS

# A selection that crosses every layer. Cases with thousands of round trips are left out: where
# ranks share processors with other tests, each takes milliseconds.
selection="locality queries rma.sizes_blocking rma.segment_to_segment rma.seen_by_the_owner nbi am_payload coll_broadcast team_split
  atomics.categories atomics.offsets barrier.split_phase"

case $case in
  spec)
    run_hosts $config --timeout 110 -- "$spec" $selection
    expect_status 0 $? "specification"
    ;;
  wordfreq)
    count_words $config --set report=true
    # That it was this network, and not shared memory, that joined the hosts.
    expect_line "^.*$network: .*[1-9]"
    ;;
  bad-cable)
    # Delay, jitter, loss, reordering, in both directions. Few cases: each loss costs 200 ms.
    run_hosts $config --timeout 100 -- "$spec" rma.sizes_nbi rma.seen_by_the_owner barrier.split_phase atomics.offsets
    expect_status 0 $? "specification over a bad cable"
    remove_cable
    ;;
  over-cable)
    # FAULTS; "mtu" among them: the largest frame changes while the traffic is on, on one host first.
    run_hosts $config --timeout 100 -- "$7" "$8" $address_b &
    job=$!
    case $mtu in
      mtu)
        for size in 600 1500 9000 1000; do
          sleep 0.5
          for host in $host_a $host_b; do ip -n $host link set cwy0 mtu $size; done
        done
        ;;
    esac
    wait $job
    expect_status 0 $? "traffic over a cable with $faults"
    expect_line "over_cable: [1-9][0-9]* rounds, 0 wrong"
    grep '^over_cable' "$work/out"
    remove_cable
    ;;
  cut)
    # In the middle of traffic. The launcher's word is the one line.
    run_hosts $config --set timeouts.peer=4s --timeout 100 -- "$spec" &
    job=$!
    sleep 3
    ip -n $host_b link set cwy0 down
    cut=$SECONDS
    wait $job
    status=$?
    took=$((SECONDS - cut))
    [ $status != 0 ] && [ $status != 124 ] || fail "status $status"
    [ $took -le 25 ] || fail "it took $took s to end, with timeouts.peer 4 s"
    lines=$(grep -c 'is lost\|failed' "$work/out")
    [ "$lines" -ge 1 ] || fail "nobody says what happened"
    ;;
  blink)
    # The cable is out for a second: everything waits, and goes on. Both hosts say so, once each.
    run_hosts $config --timeout 60 -- "$spec" $selection &
    job=$!
    sleep 1.5
    ip -n $host_b link set cwy0 down
    sleep 1
    ip -n $host_b link set cwy0 up
    wait $job
    expect_status 0 $? "specification over a cable that was out for a second"
    for what in "is down: its link is lost" "is down: the interface was switched off"; do
      [ "$(grep -c "conduit $network: device cwy0 $what" "$work/out")" = 1 ] || fail "not said once: $what"
    done
    [ "$(grep -c "conduit $network: device cwy0 is up again" "$work/out")" = 2 ] || fail "nobody says that it is back"
    ;;
  stranger)
    # Another user of the other host knocks at every port that this one opens, on the interface that
    # the ranks use.
    : >"$work/knocks"
    ip netns exec $host_b "$6" bother 1000000 / $address_a >"$work/knocks" 2>&1 &
    stranger=$!
    for i in 1 2 3 4 5; do
      [ "$(grep -c found "$work/knocks")" -lt 3 ] || break
      run_hosts $config --timeout 60 -- "$spec" am_payload locality barrier.split_phase
      expect_status 0 $? "run $i"
    done
    kill $stranger
    [ "$(grep -c found "$work/knocks")" -ge 3 ] || fail "the stranger found no ports: $(head -3 "$work/knocks")"
    ! grep -q '^causeway' "$work/out" || fail "the ranks noticed"
    ;;
  last-words)
    # Each rank's file and line, written between its last barrier and its exit.
    for i in $(seq 1 "${7:-3}"); do
      rm -rf "$work/words"
      mkdir "$work/words"
      run_hosts $config --timeout 60 -- "$6" depart last_words "$work/words"
      expect_status 0 $? "run $i"
      [ "$(ls "$work/words" | wc -l)" = 4 ] || fail "run $i: files of $(ls "$work/words" | tr '\n' ' ')alone"
      [ "$(grep -c '^last words of ' "$work/out")" = 4 ] || fail "run $i: a line is missing"
    done
    ;;
  *) fail "no case '$case'" ;;
esac
expect_nothing_left "$case"
echo "passed in $((SECONDS - began)) s"
