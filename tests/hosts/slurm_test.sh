#!/bin/bash
# slurm_test.sh LAUNCH_RANK SPEC WORDFREQ CASE
# The same binaries under Slurm's srun with its PMIx plugin: a cluster of this one machine with its
# own munge, controller and daemon, on ports, sockets and files of its own, shut down at the end.
# Would catch: a bootstrap that only understands our own launcher, tasks that each believe to be
# alone, survivors that hang under srun, a card that Slurm's server does not carry.
rank=$1 spec=$2 wordfreq=$3 case=$4
here=$(cd "$(dirname "$0")" && pwd)

. "$here/slurm.sh"

launch() {
  timeout -k 10 150 srun --mpi=pmix --overcommit --export=ALL -n "$@"
}
step() {
  launch "$@" >"$work/out" 2>&1
}

start_cluster
began=$SECONDS
case $case in
  bootstrap)
    step 4 "$rank" init host exchange exchange fence finalize || fail "status $?"
    [ "$(grep -c 'of 4 has all cards' "$work/out")" = 8 ] || fail "not every card arrived"
    grep -q 'local 0,1,2,3' "$work/out" || fail "the ranks of this host do not know each other"
    step 12 "$rank" init exchange finalize || fail "twelve: status $?"
    [ "$(grep -c 'of 12 has all cards' "$work/out")" = 12 ] || fail "not every card of twelve"
    # Without PMIx, an error with advice and not four jobs of one rank.
    timeout 60 srun --mpi=none --overcommit -n 4 "$rank" init exchange >"$work/out" 2>&1 &&
      fail "without PMIx it started"
    grep -q 'srun --mpi=pmix' "$work/out" || fail "no advice without PMIx"
    # A rank that dies ends the step.
    step 4 "$rank" init exchange @2:kill=9 fence finalize && fail "a killed rank went unnoticed"
    ;;
  programs)
    step 4 "$spec" locality queries rma nbi am_payload atomics.offsets barrier.split_phase coll_reduce team_split ||
      fail "specification: status $?"
    cat "$here"/../../core/launch/*.cpp >"$work/text"
    launch 4 "$wordfreq" "$work/text" --top 0 >"$work/out" 2>"$work/err" || fail "wordfreq: status $?"
    LC_ALL=C tr -cs A-Za-z '\n' <"$work/text" | LC_ALL=C tr A-Z a-z | sed '/^$/d' | LC_ALL=C sort |
      uniq -c | sed 's/^ *//' | LC_ALL=C sort -k1,1nr -k2,2 >"$work/expected"
    grep -v '^#' "$work/out" >"$work/counts"
    if ! cmp -s "$work/counts" "$work/expected"; then
      diff "$work/counts" "$work/expected" | head -20
      cat "$work/err"
      fail "other counts than sort and uniq"
    fi
    ;;
  *) fail "no case '$case'" ;;
esac
expect_clean_end
echo "passed in $((SECONDS - began)) s"
