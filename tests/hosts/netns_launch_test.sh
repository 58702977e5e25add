#!/bin/bash
# netns_launch_test.sh CAUSEWAY LAUNCH_RANK CASE [EAVESDROP]
# The launcher on two hosts that share nothing but a cable, with programs that only use the
# bootstrap. Would catch: ranks of two hosts taken for neighbors because the kernel is the same,
# cards, output, input, statuses or signals that do not cross, a lost host that is not noticed or
# not named, processes and files that stay on a host when launcher, relay or cable is gone; words
# that can be read on the cable although they are to be encrypted.
causeway=$1 rank=$2 case=$3
. "$(dirname "$0")/netns.sh"
make_hosts
began=$SECONDS
quick="--set timeouts.peer=3s"

pid_of() { sed -n "s/^rank $1 pid \([0-9]*\) parent.*/\1/p" "$work/out"; }
# Waits until the job in the background has said so.
await() {
  for attempt in $(seq 1 200); do
    count=$(grep -c -- "$1" "$work/out" 2>/dev/null)
    [ "${count:-0}" -lt "$2" ] || return 0
    sleep 0.1
  done
  fail "the job did not come so far: '$1'"
}

case $case in
  exchange)
    run_hosts --timeout 60 -- "$rank" init host exchange fence finalize
    expect_status 0 $? exchange
    [ "$(grep -c 'of 4 has all cards' "$work/out")" = 4 ] || fail "not every card arrived"
    expect_line "rank 1 on host '$host_a' id '0', local 0,1"
    expect_line "rank 2 on host '$host_b' id '1', local 2,3"
    # Beyond direct exchange, and more ranks than slots.
    run_hosts --per-host 5 --timeout 60 -- "$rank" init exchange fence finalize
    expect_status 0 $? "many ranks"
    [ "$(grep -c 'of 10 has all cards' "$work/out")" = 10 ] || fail "not every card of ten arrived"
    # One line per rank, hosts in turn: rank r is on line r, as in machine files of GASPI.
    printf '%s\n%s\n%s\n' $host_a $host_b $host_a >"$work/hosts"
    run_hosts --timeout 60 -- "$rank" init host finalize
    expect_line "rank 1 on host '$host_b' id '1', local 1"
    expect_line "rank 2 on host '$host_a' id '0', local 0,2"
    run_hosts -n 4 -- true
    expect_status 1 $? "more ranks than slots"
    expect_line "has room for 3 on 2 hosts"
    ;;
  streams)
    # Whole lines, all of them, from both hosts; stdin to a rank of the other host.
    run_hosts --timeout 60 -- "$rank" print=20000
    expect_status 0 $? output
    [ "$(grep -c 'end$' "$work/out")" = 80000 ] || fail "$(grep -c 'end$' "$work/out") lines of 80000"
    seq 1 200000 >"$work/numbers"
    timeout -k 10 120 ip netns exec $host_a "$causeway" run --host-file "$work/hosts" \
      --agent "ip netns exec %h" --stdin 3 --timeout 60 -- "$rank" @3:stdin \
      <"$work/numbers" >"$work/out" 2>&1
    expect_status 0 $? input
    expect_line "rank 3 read $(wc -c <"$work/numbers") bytes"
    ;;
  encrypted)
    word=open-sesame-$$
    # The word is in the order to start, and comes back as output.
    for how in "" --encrypt; do
      ip netns exec $host_a "$4" cwy0 $word >"$work/ear" &
      ear=$!
      for attempt in $(seq 1 100); do [ -s "$work/ear" ] && break; sleep 0.05; done
      run_hosts $how -x PASSWORD=$word --timeout 60 -- sh -c 'echo "rank $PMIX_RANK has $PASSWORD"'
      expect_status 0 $? "job $how"
      expect_line "rank 3 has $word"
      kill -TERM $ear && wait $ear || fail "nothing listened on the cable"
      heard=$(sed -n 's/^heard \([0-9]*\) of [1-9].*/\1/p' "$work/ear")
      case $how,$heard in
        ,0 | ,) fail "the listener hears nothing that is not encrypted: $(cat "$work/ear")" ;;
        --encrypt,0) ;;
        --encrypt,*) fail "the cable carries the word: $(cat "$work/ear")" ;;
      esac
    done
    # Whole lines, and more than windows hold, both ways; a host that is lost; a rank that fails.
    run_hosts --encrypt --timeout 60 -- "$rank" print=20000
    expect_status 0 $? output
    [ "$(grep -c 'end$' "$work/out")" = 80000 ] || fail "$(grep -c 'end$' "$work/out") lines of 80000"
    seq 1 200000 >"$work/numbers"
    timeout -k 10 120 ip netns exec $host_a "$causeway" run --host-file "$work/hosts" --encrypt \
      --agent "ip netns exec %h" --stdin 3 --timeout 60 -- "$rank" @3:stdin \
      <"$work/numbers" >"$work/out" 2>&1
    expect_status 0 $? input
    expect_line "rank 3 read $(wc -c <"$work/numbers") bytes"
    run_hosts --encrypt --timeout 60 -- "$rank" init exchange @3:kill=9 fence finalize
    expect_status 137 $? "killed rank"
    expect_line "rank 3 (pid [0-9]*, host $host_b) was killed by signal 9"
    run_hosts --encrypt $quick --timeout 60 -- "$rank" init exchange pid sleep=60 &
    job=$!
    await 'rank . pid' 4
    ip -n $host_b link set cwy0 down
    wait $job
    expect_status 137 $? "host lost"
    ip -n $host_b link set cwy0 up
    ;;
  statuses)
    run_hosts --timeout 60 -- "$rank" init exchange @3:kill=9 fence finalize
    expect_status 137 $? "killed rank"
    expect_line "rank 3 (pid [0-9]*, host $host_b) was killed by signal 9"
    run_hosts --timeout 60 -- "$rank" init exchange @2:exit=5 fence finalize
    expect_status 5 $? "rank with a status"
    run_hosts --timeout 60 -- "$rank" init @2:abort=7 exchange
    expect_status 7 $? "abort"
    run_hosts -- /no/such/program
    expect_status 127 $? "program that is not there"
    expect_line "cannot execute '/no/such/program' on host"
    run_hosts --timeout 2 -- "$rank" init exchange sleep=60
    expect_status 124 $? "time limit"
    printf '#!/bin/sh\nexec sleep 60\n' >"$work/agent"
    chmod +x "$work/agent"
    agent="$work/agent" run_hosts --set timeouts.start=3s -- true
    expect_status 1 $? "agent that starts nothing"
    expect_line "no relay on host"
    # The limit and an interrupt hold while hosts are waited for, too.
    agent="$work/agent" run_hosts --timeout 2 -- true
    expect_status 124 $? "time limit before the start"
    # A rank that is missed is named across hosts, and nobody waits for it for ever.
    run_hosts --timeout 60 -- "$rank" timeout=3 init @3:sleep=20 exchange
    expect_status 5 $? "rank that does not come"
    expect_line "not every rank joined within 3 s (timeouts.start): missing rank 3"
    ;;
  killed)
    # Whoever of the launcher's processes is killed: the job ends everywhere.
    for who in front keeper relay relay-keeper; do
      : >"$work/out"  # what the job before said must not be taken for this one's
      run_hosts --timeout 60 -- "$rank" init exchange daemon pid sleep=60 &
      job=$!
      await 'rank . pid' 4
      relay_keeper=$(sed -n 's/^rank 3 pid .* parent \([0-9]*\)$/\1/p' "$work/out")
      relay=$(awk '{print $4}' "/proc/$relay_keeper/stat")
      keeper=$(awk '{print $4}' "/proc/$relay/stat")
      front=$(awk '{print $4}' "/proc/$keeper/stat")
      case $who in
        front) kill -KILL "$front" ;;
        keeper) kill -KILL "$keeper" ;;
        relay) kill -KILL "$relay" ;;
        relay-keeper) kill -KILL "$relay_keeper" ;;
      esac
      wait $job
      expect_status 137 $? "$who killed"
      expect_nothing_left "$who killed"
    done
    ;;
  interrupted)
    run_hosts --timeout 60 -- "$rank" init exchange deaf daemon pid sleep=60 &
    job=$!
    await 'rank . pid' 4
    relay_keeper=$(sed -n 's/^rank 3 pid .* parent \([0-9]*\)$/\1/p' "$work/out")
    relay=$(awk '{print $4}' "/proc/$relay_keeper/stat")
    keeper=$(awk '{print $4}' "/proc/$relay/stat")
    kill -INT "$(awk '{print $4}' "/proc/$keeper/stat")"
    wait $job
    expect_status 130 $? "interrupted"
    ;;
  cut)
    run_hosts $quick --timeout 60 -- "$rank" init exchange pid sleep=60 &
    job=$!
    await 'rank . pid' 4
    ip -n $host_b link set cwy0 down
    cut=$SECONDS
    wait $job
    expect_status 137 $? "cable cut"
    expect_line "host $host_b is lost: no sign of life from its relay for 3 s (timeouts.peer); ranks 2,3"
    [ "$(grep -c '^causeway' "$work/out")" -le 2 ] || fail "more than one line about it"
    [ $((SECONDS - cut)) -le 20 ] || fail "noticed after $((SECONDS - cut)) s"
    ;;
  continue)
    # A lost host is the failure of its ranks; the others hear of it and go on.
    run_hosts $quick --on-failure=continue --timeout 60 -- "$rank" init exchange pid \
      !2:sleep=8 say=done &
    job=$!
    await 'rank . pid' 4
    ip -n $host_b link set cwy0 down
    wait $job
    expect_status 137 $? "cable cut"
    expect_line "rank 0 hears: rank 3 was lost with host $host_b"
    expect_line "the others go on"
    [ "$(grep -c '^done' "$work/out")" -ge 2 ] || fail "the survivors did not survive"
    ;;
  spares)
    # Rank 1 dies; the spare, on the other host, takes its place and has everybody's card, and
    # they have its.
    run_hosts --spares 1 --timeout 60 -- "$rank" init place exchange @1:sleep=1 @1:first-kill=9 meet say=met finalize
    expect_status 0 $? "replaced rank"
    expect_line "spare is rank 1 of epoch 2"
    expect_line "rank 1 of 4 has all cards"
    [ "$(grep -c 'has the new card of 1' "$work/out")" = 3 ] || fail "survivors miss the new card"
    ;;
  *) fail "no case '$case'" ;;
esac
expect_nothing_left "$case"
echo "passed in $((SECONDS - began)) s"
