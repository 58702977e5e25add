#!/bin/bash
# netns_striped_test.sh CAUSEWAY SPEC: two hosts of two ranks and two cables, which a rail of `eth` shares.
# Would catch: a conduit of one device that connects, or lets itself be connected to, over the other one; a
# rail that leaves a cable idle, a wrong byte where a transfer is cut in two, a rail that needs both cables.
causeway=$1 spec=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
need_conduit eth
make_hosts
lay_second_cable
selection="rma.sizes_nbi rma.sizes_blocking rma.segment_to_segment rma.seen_by_the_owner am_payload barrier.split_phase atomics.offsets"

# Bytes that a host has sent over a cable.
sent() {
  ip netns exec "$1" cat "/sys/class/net/$2/statistics/tx_bytes"
}
run_over_both() {
  run_hosts --config "$here/striped.yaml" --timeout 100 "$@" -- "$spec" $selection
}

# shares_of NAME OPTIONS...: sets first and second, what both hosts have sent over each cable meanwhile.
shares_of() {
  local name=$1
  shift
  first=-$(($(sent $host_a cwy0) + $(sent $host_b cwy0))) second=-$(($(sent $host_a cwy1) + $(sent $host_b cwy1)))
  run_over_both "$@"
  expect_status 0 $? "specification over $name"
  first=$((first + $(sent $host_a cwy0) + $(sent $host_b cwy0))) second=$((second + $(sent $host_a cwy1) + $(sent $host_b cwy1)))
  echo "$name: $first and $second bytes"
  expect_nothing_left "$name"
}

shares_of "two cables"
[ $second -gt $((first / 2)) ] && [ $first -gt $((second / 2)) ] || fail "one cable had most of the load"
shares_of "the second cable" --set 'rails.both.use=[second]'
[ $first -lt $((second / 10)) ] || fail "the first cable had a load that was the second one's"

ip -n $host_b link set cwy1 down
run_over_both
expect_status 0 $? "specification with one of two cables"
expect_nothing_left "one of two cables"
echo "passed"
