#!/bin/sh
# A rank on a host that hwloc takes for one of two NUMA nodes: pairs of ranks by turns on the first and on
# the second processor that this job may use. Usage, as what `causeway run` starts: two_nodes.sh PROGRAM...
set -eu
list=$(taskset -pc $$ | sed 's/.*: //')
cpus=$(echo "$list" | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); ++i) print i }')
first=$(echo "$cpus" | sed -n 1p) second=$(echo "$cpus" | sed -n 2p)
if [ -z "$second" ]; then
  echo "skipped: two processors are needed, this job has '$list'"
  exit 77
fi
mine=$first
[ $((PMIX_RANK / 2 % 2)) = 0 ] || mine=$second
HWLOC_SYNTHETIC="numa:2 pu:1(indexes=$first,$second)" HWLOC_THISSYSTEM=1
export HWLOC_SYNTHETIC HWLOC_THISSYSTEM
exec taskset -c "$mine" "$@"
