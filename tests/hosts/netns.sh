# "Hosts" on one machine: network namespaces, two that a cable (veth) joins or eight at a switch. Sourced by tests.
#
# Two hosts have an interface cwy0 with an address that the other one reaches, and an interface cwy9 that comes
# first by name, has the same addresses on both, and leads nowhere: what picks an interface by itself may pick the
# wrong one, and an address alone does not tell hosts apart.
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

processes_of_hosts() {
  for host in $all_hosts; do ip netns pids "$host" 2>/dev/null; done
}

remove_hosts() {
  remove_cable
  for pid in $(processes_of_hosts); do kill -KILL "$pid" 2>/dev/null; done
  for host in $all_hosts; do ip netns del "$host" 2>/dev/null; done
  rm -rf "$work"
}

remove_stale_hosts() {
  for host in $(ip netns list 2>/dev/null | sed -n 's/^\(cwy[a-z][0-9]*\).*/\1/p'); do
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

# Sets all_hosts to the namespaces that it makes, whose names are the hosts' names, and work.
make_namespaces() {
  [ "$(id -u)" = 0 ] || skip "network namespaces need root"
  command -v ip >/dev/null 2>&1 || skip "ip is not installed (Debian: iproute2)"
  remove_stale_hosts
  all_hosts=
  work=$(mktemp -d)
  export TMPDIR="$work/tmp"
  mkdir "$TMPDIR"
  trap remove_hosts EXIT
  trap 'exit 1' INT TERM HUP
  for letter in "$@"; do
    ip netns add cwy$letter$$ 2>"$work/why" || skip "no network namespaces: $(cat "$work/why")"
    all_hosts="$all_hosts cwy$letter$$"
    ip -n cwy$letter$$ link set lo up
  done
}

# The kernel takes its time to see that the other end of a cable is there; until then UCX does not see
# the interface.
await_cables() {
  for host in "$@"; do
    for attempt in $(seq 1 100); do
      case $(ip netns exec $host cat /sys/class/net/cwy0/operstate) in *down) sleep 0.1 ;; *) break ;; esac
    done
  done
}

# Sets host_a, host_b, address_a, address_b.
make_hosts() {
  make_namespaces a b
  host_a=cwya$$ host_b=cwyb$$
  address_a=10.77.0.1 address_b=10.77.0.2
  if [ -n "${bad_cable:-}" ]; then
    lay_bad_cable
  else
    ip link add cwy0 netns $host_a type veth peer name cwy0 netns $host_b 2>"$work/why" ||
      skip "no veth: $(cat "$work/why")"
  fi
  for host in $host_a $host_b; do
    address=$address_a
    [ $host = $host_a ] || address=$address_b
    ip -n $host addr add $address/24 dev cwy0
    ip -n $host link set cwy0 up
    # Not every kernel has it; the test then only shows less.
    if ip -n $host link add cwy9 type dummy 2>/dev/null; then
      ip -n $host addr add 10.79.0.1/24 dev cwy9
      ip -n $host link set cwy9 up
    fi
  done
  await_cables $host_a $host_b
  printf '# two hosts of two ranks each\n%s slots=2\n\n%s slots=2\n' $host_a $host_b >"$work/hosts"
}

# Eight hosts of two ranks each, joined by a switch; the default route leads there. Sets host_a.
make_eight_hosts() {
  make_namespaces a b c d e f g h s
  host_a=cwya$$
  ip -n cwys$$ link add switch type bridge 2>"$work/why" || skip "no bridge: $(cat "$work/why")"
  ip -n cwys$$ link set switch up
  number=0
  for host in ${all_hosts% *}; do
    number=$((number + 1))
    ip link add cwy0 netns $host type veth peer name port$number netns cwys$$ || fail "no cable"
    ip -n cwys$$ link set port$number master switch up
    ip -n $host addr add 10.77.0.$number/24 dev cwy0
    ip -n $host link set cwy0 up
    ip -n $host route add default dev cwy0
    echo "$host slots=2" >>"$work/hosts"
  done
  await_cables ${all_hosts% *}
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

# Nothing may be left on any host: no process, no file.
expect_nothing_left() {
  for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    left=$(processes_of_hosts; ls -A "$TMPDIR")
    [ -n "$left" ] || return 0
    sleep 0.25
  done
  for pid in $(processes_of_hosts); do
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

# count_words OPTIONS...: $wordfreq on all hosts has to find what sort and uniq find.
count_words() {
  cat "$here"/../../core/*/*.cpp >"$work/text"
  run_hosts --timeout 90 "$@" -- "$wordfreq" "$work/text" --top 0
  expect_status 0 $? "wordfreq"
  LC_ALL=C tr -cs A-Za-z '\n' <"$work/text" | LC_ALL=C tr A-Z a-z | sed '/^$/d' | LC_ALL=C sort |
    uniq -c | sed 's/^ *//' | LC_ALL=C sort -k1,1nr -k2,2 >"$work/expected"
  grep -v '^#\|^causeway: rank' "$work/out" | cmp - "$work/expected" || fail "other counts than sort and uniq"
}
