#!/bin/sh
# Collectives on a host of two memory domains. Usage: domains.sh CAUSEWAY COUNTED_PROGRAM SPEC_PROGRAM
# [TWO_NEIGHBORHOODS]
# Would catch domains that nobody looks for, levels that are used although nobody knows where ranks run,
# members that disagree on who leads a domain, and wrong results between domains.
set -eu
here=$(dirname "$0")
causeway=$1 counted=$2 spec=$3 neighborhoods=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "domains: $1" >&2
  sed 's/^/  | /' "$work/out" "$work/err" >&2
  exit 1
}
run() { "$causeway" run "$@" > "$work/out" 2> "$work/err"; }
levels='collectives.rules=[{operation: any, use: [hier/domains]}]'

run -n 4 --timeout 60 --set "$levels" -- "$here/two_nodes.sh" "$counted" || {
  grep -m 1 '^skipped:' "$work/out" && exit 0
  fail "four ranks"
}
grep -q "broadcast hier/domains 2.* reduce_all hier/domains 2" "$work/out" || fail "no levels ran"
# Where nobody knows on which node ranks run there are none, and the rule leaves the calls to others.
run -n 4 --timeout 60 --set "$levels" -- "$counted" || fail "four ranks that are not bound"
! grep -q "hier/domains" "$work/out" || fail "levels without domains"
# Unasked among more than eight members.
run -n 10 --timeout 120 -- "$here/two_nodes.sh" "$counted" || fail "ten ranks"
grep -q "reduce_all hier/domains 1" "$work/out" || fail "ten members make no use of domains"
# The same results: every size, root, type, order and place.
run -n 7 --timeout 250 --set "$levels" -- "$here/two_nodes.sh" "$spec" \
  coll_broadcast coll_reduce coll_mixed || fail "seven ranks, cases"
# Three levels: domains, neighborhoods, and the network between these.
if [ -n "$neighborhoods" ]; then
  run -n 8 --timeout 250 --config "$neighborhoods" --set 'neighborhood.ranks=4' \
    -- "$here/two_nodes.sh" "$spec" coll_broadcast coll_reduce.within_segments coll_mixed ||
    fail "eight ranks in two neighborhoods of two domains"
fi
