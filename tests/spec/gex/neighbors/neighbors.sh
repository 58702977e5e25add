#!/bin/sh
# Which ranks are told of as neighbors, in every kind of configuration: those whose memory they can
# load from and store to. Usage: neighbors.sh CAUSEWAY PROGRAM [ofi]
# Would catch: neighbors without a local address; ranks that map each other and are not neighbors;
# answers that differ between ranks, or that are no division of the ranks.
set -eu
causeway=$1 program=$2 network=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect NEIGHBORHOODS FLAGS... -- COMMAND: of as many ranks as NEIGHBORHOODS has numbers.
expect() {
  wanted=$1
  shift
  "$causeway" run -n "$(echo "$wanted" | wc -w)" --timeout 60 "$@" >"$work/out" 2>&1 &&
    grep -qx "neighborhoods $wanted" "$work/out" && return
  echo "neighbors: not '$wanted' with $*" >&2
  sed 's/^/  | /' "$work/out" >&2
  exit 1
}
self='{name: self, match: {locality: self}, use: [self]}'

expect '0 0 0' -- "$program"
# Mapped, although puts and gets do not make use of it.
expect '0 0' --set direct_map=never -- "$program"
expect '0 0' --set checks=full -- "$program"
# A conduit that could, and may not.
expect '0 1 2' --set 'conduits.shm.native=[]' -- "$program"
expect '0 1' --set 'conduits.shm.native=[put,get]' -- "$program"
expect '0 0' --set 'conduits.shm.native=[direct]' -- "$program"
expect '0 0 2' --set "peers=[$self, {use: [shm]}]" --set neighborhood.ranks=2 -- "$program"
expect '0 0 2 2' --set neighborhood.ranks=2 -- "$program"
# Two conduits that map: segments come from one of them.
expect '0 1 0 3' --set conduits.second.plugin=shm \
  --set "peers=[$self, {match: {ranks: '1,3'}, use: [second]}, {use: [shm]}]" -- "$program"
expect '0 0' --set 'conduits.shm.native=[]' --set conduits.second.plugin=shm \
  --set "peers=[$self, {use: [second], operations: {am: shm}}]" -- "$program"
[ -n "$network" ] || exit 0

net='conduits.net={plugin: ofi, options: {provider: tcp, wait: always}}'
expect '0 1 0' --set "$net" \
  --set "peers=[$self, {match: {ranks: 1}, use: [net]}, {use: [shm]}]" -- "$program"
expect '0 0' --set "$net" --set "peers=[$self, {use: [shm], operations: {put: net}}]" -- "$program"
# Rank 1 has no network, so all reach it through memory and the others each other through the network:
# mapping goes in a chain.
expect '0 0 2 3' --set "$net" --set "peers=[$self, {use: [net, shm]}]" --set plugins.on_load_error=ignore -- \
  sh -c 'if [ "$PMIX_RANK" = 1 ]; then export FI_PROVIDER=nobody; fi; exec "$1"' sh "$program"
