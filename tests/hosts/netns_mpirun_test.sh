#!/bin/bash
# netns_mpirun_test.sh LAUNCH_RANK SPEC WORDFREQ CASE
# Two hosts under Open MPI's mpirun, whose launch agent enters the namespace. Would catch: ranks of
# two hosts taken for neighbors, though mpirun tells them apart, because the kernel is the same.
causeway=none rank=$1 spec=$2 wordfreq=$3 case=$4
here=$(cd "$(dirname "$0")" && pwd)
. "$here/netns.sh"
command -v mpirun >/dev/null 2>&1 || skip "mpirun is not installed (Debian: openmpi-bin)"
mpirun --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE' || skip "mpirun is not Open MPI's"
command -v unshare >/dev/null 2>&1 || skip "unshare is not installed (Debian: util-linux)"
make_hosts
began=$SECONDS

# Open MPI 5 starts hosts by a runtime of its own, whose settings have other names. It is to be on the first host by
# name, and would put all ranks there if it might.
case $(mpirun --version) in
  *' 4.'*) by=(--oversubscribe --mca plm rsh --mca plm_rsh_agent "$here/mpirun_agent.sh"
      --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include cwy0) ;;
  *) by=(--prtemca plm ssh --prtemca plm_ssh_agent "$here/mpirun_agent.sh"
      --prtemca plm_ssh_no_tree_spawn 1 --prtemca prte_if_include cwy0) ;;
esac
mpirun_hosts() {
  timeout -k 10 150 "$here/mpirun_agent.sh" $host_a exec mpirun --allow-run-as-root -n 4 \
    --host $host_a:2,$host_b:2 "${by[@]}" "$@" >"$work/out" 2>&1 </dev/null
}

case $case in
  bootstrap)
    mpirun_hosts "$rank" init host exchange exchange fence finalize
    status=$?
    [ $status = 0 ] || fail "status $status"
    [ "$(grep -c 'of 4 has all cards' "$work/out")" = 8 ] || fail "not every card arrived"
    for pair in '0.*local 0,1' '2.*local 2,3'; do
      grep -q "^rank $pair" "$work/out" || fail "wrong neighbors: no '$pair'"
    done
    ;;
  ofi | ucx | eth)
    export CAUSEWAY_CONFIG="$here/$case.yaml"
    mpirun_hosts -x CAUSEWAY_CONFIG "$spec" locality queries rma.sizes_blocking rma.segment_to_segment \
      rma.seen_by_the_owner nbi am_payload atomics.offsets barrier.split_phase
    status=$?
    [ $status = 0 ] || fail "specification: status $status"
    cat "$here"/../../core/launch/*.cpp >"$work/text"
    mpirun_hosts -x CAUSEWAY_CONFIG -x CAUSEWAY_SET=report=true "$wordfreq" "$work/text" --top 3
    status=$?
    [ $status = 0 ] || fail "wordfreq: status $status"
    grep -q "$case: .*[1-9]" "$work/out" || fail "$case was not used"
    ;;
  *) fail "no case '$case'" ;;
esac
echo "passed in $((SECONDS - began)) s"
