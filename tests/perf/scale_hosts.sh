#!/bin/sh
# `bench --scale --hosts`: ranks on two hosts, of which nothing is left behind; without the means it says so in one
# line. Usage: scale_hosts.sh CAUSEWAY
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "scale_hosts: $1" >&2
  cat "$work/out" >&2
  exit 1
}
timeout 60 env PATH=/nowhere "$1" bench --scale 4 --hosts 2 --quick >"$work/out" 2>&1 && fail "hosts without ip"
[ "$(grep -c . "$work/out")" = 1 ] && grep -q 'which needs root and iproute2: .*not found$' "$work/out" ||
  fail "not one line that says why"
if ! ip netns add "cwyprobe$$" 2>"$work/why"; then
  echo "SKIPPED: no network namespaces here: $(cat "$work/why")"
  exit 77
fi
ip netns del "cwyprobe$$"
"$1" bench --scale 2,5 --hosts 2 --quick >"$work/out" 2>&1 &
wait $! || fail "status $?"
grep -Eq '^5( +[0-9.]+)+$' "$work/out" || fail "no figures"
! ip netns list | grep -q "^cwyh$!-" || fail "hosts are left"
! ip link show "cwyh$!" >"$work/link" 2>&1 || fail "a bridge is left"
