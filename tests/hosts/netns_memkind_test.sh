#!/bin/bash
# netns_memkind_test.sh CAUSEWAY PROGRAM STANDINS KIND NETWORK
# The specification of memory kinds (tests/spec/mk) over a stand-in's devices, on two hosts: two ranks
# on one of them and one on the other. Would catch: memory of another host's device that is taken for
# this one's, bounce buffers that are looked for in shared memory, and a rank's way to its neighbors that
# follows from its way to the others.
causeway=$1 program=$2 standins=$3 kind=$4 network=$5
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
need_conduit "$network"
make_hosts
export LD_LIBRARY_PATH=$standins/$kind SPEC_MK=$kind
printf '%s\n%s\n%s\n' $host_a $host_a $host_b >"$work/hosts"
run_hosts --config "$here/$network.yaml" --set "memkinds.$kind.chunk=64KiB" --timeout 120 -- \
  "$program" || fail "the job failed"
expect_line ' 0 failed'
# Each side says once why it does not open the other host's memory.
run_hosts --config "$here/$network.yaml" --set "memkinds.$kind.staging=forbid" --timeout 60 -- \
  "$program" mk_rma.put_blocking
expect_line 'it is on another host'
expect_nothing_left memkind
echo passed
