# A Slurm of this one machine with its own munge, controller and daemon, on ports, sockets and files of its own.
# Sourced by tests. start_cluster brings it up, or ends the shell with status 77 and the reason; it is shut down
# when the shell ends, whatever ends it.

skip() {
  echo "SKIPPED: $*"
  exit 77
}
# The reason comes last: a summary shows the end of what a test has said.
fail() {
  for log in "$work"/*.log; do
    echo "-- $(basename "$log")"
    grep -i 'error\|fatal' "$log" | tail -10
  done
  for said in "$work/out" "$work/err"; do
    [ ! -f "$said" ] || sed 's/^/  | /' "$said" | tail -30
  done
  echo "FAILED: $*"
  exit 1
}

[ "$(id -u)" = 0 ] || skip "Slurm's daemon needs root"
for tool in munged munge slurmctld slurmd srun scontrol; do
  command -v $tool >/dev/null 2>&1 ||
    skip "$tool is not installed (Debian: munge slurmctld slurmd slurm-client)"
done
srun_plugins=$(dirname "$(find /usr/lib -name mpi_pmix.so -path '*slurm*' 2>/dev/null | head -1)")
[ -n "$srun_plugins" ] && [ "$srun_plugins" != . ] || skip "this Slurm has no PMIx plugin"

work=$(mktemp -d)
# Sets `stubborn` to the daemons that had to be killed.
stop_daemons() {
  stubborn=
  # In the order that lets each tell the other; steps' own processes are theirs.
  for name in slurmd slurmctld munged; do
    pid=$(cat "$work/$name.pid" 2>/dev/null) || continue
    kill -TERM "$pid" 2>/dev/null
    for attempt in $(seq 1 150); do
      kill -0 "$pid" 2>/dev/null || continue 2
      sleep 0.1
    done
    stubborn="$stubborn $name"
    kill -KILL "$pid" 2>/dev/null
  done
}
shut_down() {
  stop_daemons
  rm -rf "$work"
}
trap shut_down EXIT
# The files of /proc that tell the environment of this cluster's processes; $1 is a part of their names.
environments() {
  for file in $(grep -lzs "^SLURM_CONF=$work/" /proc/[0-9]*/environ); do
    grep -qs "$1" "${file%environ}comm" && echo "$file"
  done
}
# A step's own process reports its end to the controller after srun has returned, and may do so after
# the controller has the job's end from the daemon; one that finds the controller gone asks for it
# again and again.
await_quiet() {
  until=$((SECONDS + 60))
  while [ "$SECONDS" -lt "$until" ]; do
    [ -n "$(timeout 5 squeue --noheader 2>&1)" ] || [ -n "$(environments slurmstepd)" ] || return 0
    sleep 0.2
  done
  timeout 5 squeue
  fail "jobs are left"
}
# After a case that passed: every daemon ends when it is told to, and nothing of this cluster is left.
expect_clean_end() {
  await_quiet
  stop_daemons
  [ -z "$stubborn" ] || fail "did not end when told to:$stubborn"
  unset SLURM_CONF  # of what this shell starts from here on
  for attempt in $(seq 1 50); do
    left=$(environments .)
    [ -n "$left" ] || return 0
    sleep 0.1
  done
  for file in $left; do tr '\0' ' ' <"${file%environ}cmdline"; done
  fail "processes are left"
}
trap 'exit 1' INT TERM HUP
chmod 755 "$work"

# A port that nobody has now, of those that the kernel gives to no connection: one of these has no
# listener by which it could be told. A neighbor that takes it meanwhile ends the daemon, and the next
# attempt takes others.
free_port() {
  read -r given _ </proc/sys/net/ipv4/ip_local_port_range
  [ "$given" -gt 12000 ] || given=32768
  for attempt in $(seq 1 50); do
    port=$((10000 + (RANDOM * 32768 + RANDOM) % (given - 10000)))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
      echo $port
      return
    }
  done
}

start_munge() {
  mkdir -p "$work/munge"
  dd if=/dev/urandom of="$work/munge/key" bs=1024 count=1 2>/dev/null
  chmod 400 "$work/munge/key"
  chmod 755 "$work/munge"
  munged --force --socket="$work/munge/socket" --key-file="$work/munge/key" \
    --log-file="$work/munged.log" --pid-file="$work/munged.pid" --seed-file="$work/munge/seed" \
    >"$work/why" 2>&1 || skip "munged does not start: $(tail -1 "$work/why")"
}

write_config() {
  node=$(hostname -s)
  cat >"$work/slurm.conf" <<END
ClusterName=causeway
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP
END
  # A directory of a cluster that was killed, under the common name, would end every step.
  echo "PMIxCliTmpDirBase=$work/pmix" >"$work/mpi.conf"
  export SLURM_CONF="$work/slurm.conf"
  mkdir -p "$work/state" "$work/spool" "$work/pmix"
}

has_ended() {
  pid=$(cat "$work/$1.pid" 2>/dev/null) && ! kill -0 "$pid" 2>/dev/null
}
start_slurm() {
  for attempt in 1 2 3; do
    write_config
    slurmctld -c >"$work/why" 2>&1 && slurmd >>"$work/why" 2>&1 || continue
    # In seconds: where no controller listens, each question takes five.
    until=$((SECONDS + 60))
    while [ "$SECONDS" -lt "$until" ] && ! has_ended slurmctld && ! has_ended slurmd; do
      state=$(timeout 5 scontrol show node "$node" 2>/dev/null | sed -n 's/.*State=\([^ ]*\).*/\1/p')
      [ "$state" != IDLE ] || return 0
      sleep 0.5
    done
    for name in slurmd slurmctld; do
      kill -KILL "$(cat "$work/$name.pid" 2>/dev/null)" 2>/dev/null
      rm -f "$work/$name.pid"
    done
  done
  skip "Slurm does not come up here: $(cat "$work/why" "$work"/slurm*.log | grep -i 'error\|fatal' | tail -2)"
}

start_cluster() {
  unset CAUSEWAY_RANKS CAUSEWAY_SESSION_DIR CAUSEWAY_CONFIG CAUSEWAY_SET
  start_munge
  start_slurm
}
