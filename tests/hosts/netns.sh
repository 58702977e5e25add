# Two "hosts" on one machine: network namespaces joined by a cable (veth). Sourced by tests.
#
# Both hosts have an interface cwy0 with an address that the other one reaches, and an interface
# cwy9 that comes first by name, has the same addresses on both, and leads nowhere: what picks an
# interface by itself may pick the wrong one, and an address alone does not tell hosts apart.
# Everything is removed when the shell ends, whatever ends it; a shell that is killed leaves the
# namespaces to the next test, which removes those whose maker is gone.

skip() {
  echo "SKIPPED: $*"
  exit 77
}

fail() {
  echo "FAILED: $*"
  [ ! -f "$work/out" ] || sed 's/^/  | /' "$work/out" | tail -40
  exit 1
}

# Beside the build's or an installation's launcher; plugins that lie elsewhere are not looked for.
need_conduit() {
  plugins=$(dirname "$causeway")/../lib/causeway/2
  [ ! -d "$plugins" ] || [ -e "$plugins/conduit_$1.so" ] || skip "the conduit $1 is not built here"
}

remove_cable() {
  [ -n "${cable_pid:-}" ] || return 0
  kill -KILL "$cable_pid" 2>/dev/null
  wait "$cable_pid" 2>/dev/null
  cable_pid=
}

remove_hosts() {
  remove_cable
  for host in $host_a $host_b; do
    for pid in $(ip netns pids "$host" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null; done
    ip netns del "$host" 2>/dev/null
  done
  rm -rf "$work"
}

remove_stale_hosts() {
  for host in $(ip netns list 2>/dev/null | sed -n 's/^\(cwy[ab][0-9]*\).*/\1/p'); do
    maker=${host#cwy?}
    [ -d "/proc/$maker" ] || ip netns del "$host" 2>/dev/null
  done
}

# $faults (bad_cable's arguments): frames are delayed, reordered, lost or doubled, both ways. By
# $bad_cable between two TAP devices; few kernels have netem.
lay_bad_cable() {
  "$bad_cable" $host_a $host_b cwy0 "${seed:-1}" $faults >"$work/cable" 2>"$work/why" &
  cable_pid=$!
  for attempt in $(seq 1 100); do
    [ ! -s "$work/cable" ] || return 0
    sleep 0.05
  done
  skip "no TAP devices: $(cat "$work/why")"
}

# Sets host_a, host_b (names of namespaces, which are the hosts' names), address_a, address_b, work.
make_hosts() {
  [ "$(id -u)" = 0 ] || skip "network namespaces need root"
  command -v ip >/dev/null 2>&1 || skip "ip is not installed (Debian: iproute2)"
  remove_stale_hosts
  host_a=cwya$$ host_b=cwyb$$
  address_a=10.77.0.1 address_b=10.77.0.2
  work=$(mktemp -d)
  trap remove_hosts EXIT
  trap 'exit 1' INT TERM HUP
  ip netns add $host_a 2>"$work/why" || skip "no network namespaces: $(cat "$work/why")"
  ip netns add $host_b || fail "no second namespace"
  if [ -n "${bad_cable:-}" ]; then
    lay_bad_cable
  else
    ip link add cwy0 netns $host_a type veth peer name cwy0 netns $host_b 2>"$work/why" ||
      skip "no veth: $(cat "$work/why")"
  fi
  for host in $host_a $host_b; do
    address=$address_a
    [ $host = $host_a ] || address=$address_b
    ip -n $host link set lo up
    ip -n $host addr add $address/24 dev cwy0
    ip -n $host link set cwy0 up
    # Not every kernel has it; the test then only shows less.
    if ip -n $host link add cwy9 type dummy 2>/dev/null; then
      ip -n $host addr add 10.79.0.1/24 dev cwy9
      ip -n $host link set cwy9 up
    fi
  done
  # The kernel takes its time to see that the other end of the cable is there; until then UCX does
  # not see the interface.
  for host in $host_a $host_b; do
    for attempt in $(seq 1 100); do
      case $(ip netns exec $host cat /sys/class/net/cwy0/operstate) in *down) sleep 0.1 ;; *) break ;; esac
    done
  done
  export TMPDIR="$work/tmp"
  mkdir "$TMPDIR"
  printf '# two hosts of two ranks each\n%s slots=2\n\n%s slots=2\n' $host_a $host_b >"$work/hosts"
}

# A second cable beside cwy0: cwy1, 10.78.0.1 on the first host and 10.78.0.2 on the second.
lay_second_cable() {
  ip link add cwy1 netns $host_a type veth peer name cwy1 netns $host_b || fail "no second cable"
  ip -n $host_a addr add 10.78.0.1/24 dev cwy1
  ip -n $host_b addr add 10.78.0.2/24 dev cwy1
  for host in $host_a $host_b; do ip -n $host link set cwy1 up; done
  sleep 1  # until the kernel sees the other end
}

on_a() { ip netns exec $host_a "$@"; }

# run_hosts OPTIONS... -- PROGRAM...: `causeway run` on both hosts, started on the first one.
# The output goes to $work/out; the status is the command's.
run_hosts() {
  timeout -k 10 120 ip netns exec $host_a "$causeway" run --host-file "$work/hosts" \
    --agent "${agent:-ip netns exec %h}" "$@" >"$work/out" 2>&1 </dev/null
}

# Nothing may be left on either host: no process, no file.
expect_nothing_left() {
  for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    left=$(ip netns pids $host_a; ip netns pids $host_b; ls -A "$TMPDIR")
    [ -n "$left" ] || return 0
    sleep 0.25
  done
  for pid in $(ip netns pids $host_a; ip netns pids $host_b); do
    echo "left: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
  done
  fail "$1: left behind: $(ls -A "$TMPDIR")"
}

# expect_status N: of the last run_hosts, given as $?.
expect_status() {
  [ "$2" = "$1" ] || fail "$3: status $2, expected $1"
}

expect_line() {
  grep -q -- "$1" "$work/out" || fail "no line with '$1'"
}
