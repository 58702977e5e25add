#!/bin/bash
# netns_eight_test.sh CAUSEWAY SPEC WORDFREQ VICTIM: eight hosts of two ranks at one switch, without a configuration.
# Would catch: addresses, cards or neighborhoods that are right between two hosts only, a start that some hosts do not
# come through, words that are counted by fewer ranks than there are, hosts that a death does not reach.
causeway=$1 spec=$2 wordfreq=$3 victim=$4
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
need_conduit eth
make_eight_hosts
began=$SECONDS

run_hosts --timeout 100 -- "$spec" locality queries rma.segment_to_segment rma.seen_by_the_owner nbi am_payload coll_broadcast \
  team_split atomics.offsets barrier.split_phase
expect_status 0 $? "specification"
expect_nothing_left "specification"

count_words --set report=true
expect_line "counted by 16 ranks"
expect_line "^.*eth: .*[1-9]"
expect_nothing_left "wordfreq"

run_hosts --timeout 60 -- "$victim" die storm kill
expect_status 137 $? "a killed rank"
expect_line "signal 9"
expect_nothing_left "a killed rank"
echo "passed in $((SECONDS - began)) s"
