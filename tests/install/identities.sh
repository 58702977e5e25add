#!/bin/sh
# Builds programs the way builds written for GASNet do: with gasnet-<conduit>-<mode>.pc, with the
# Makefile fragments, and starts them with the commands that such builds know.
# Usage: identities.sh TREE WORK_DIR CC CXX
# Catches: a package file or fragment whose flags do not compile or link, that disagree, or that
# name the place of the build; programs that launchers cannot recognise; more than one conduit macro;
# an MPI library in a program; a smp program whose ranks do not share memory and runs all the same;
# a variable that is documented and ignored.
set -eu
tree=$1 work=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS GASNET_PSHM_NODES GASNET_MAX_SEGSIZE \
  GASNET_SUPERNODE_MAXSIZE GASNET_RCV_THREAD GASNET_SPAWNFN GASNET_SSH_SERVERS GASNET_QUIET || true
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"

status=0
complain() { echo "identities: $*"; status=1; }
fail() { cat "$work/out" "$work/err" 2>/dev/null || true; echo "identities: $*"; exit 1; }
run() { timeout 100 "$@" >"$work/out" 2>"$work/err"; }
# Four ranks have written what they should.
good() { [ "$(grep -c '^rank [0-3] of 4: .*ok$' "$work/out")" = 4 ]; }

# ---- each pair: the files are there, and both say the same ----
for conduit in smp udp mpi ibv ofi ucx; do
  for mode in seq parsync par; do
    name=gasnet-$conduit-$mode
    pkg-config --exists "$name" || complain "pkg-config does not find $name"
    [ -e "$tree/lib/lib$name.a" ] || complain "no lib$name.a"
    fragment=$tree/include/$conduit-conduit/$conduit-$mode.mak
    [ -e "$fragment" ] || { complain "no $fragment"; continue; }
    [ "$(ar t "$tree/lib/lib$name.a" | wc -l)" = 1 ] || complain "lib$name.a is not one object"
    defines=$(pkg-config --variable=GASNET_DEFINES "$name")
    upper=$(echo "$conduit" | tr '[:lower:]' '[:upper:]')
    case " $defines " in
      *" -DGASNET_CONDUIT_$upper=1 "*) ;;
      *) complain "$name defines '$defines'" ;;
    esac
    case $(pkg-config --variable=GASNET_LIBS "$name") in
      -L*"/lib -lgasnet-$conduit-$mode -lcauseway "*"-lm") ;;
      *) complain "$name: GASNET_LIBS does not begin with -L<prefix>/lib, or end with -lm" ;;
    esac
    # Nothing but assignments and comments, and none outside the names that are ours.
    if grep -vE '^(#.*|GASNET[A-Z_]* :?=.*|)$' "$fragment"; then
      complain "$fragment has more than assignments"
    fi
  done
  [ -x "$tree/bin/gasnetrun_$conduit" ] || complain "no gasnetrun_$conduit"
done

# ---- programs: C and C++, seq and par ----
build() { # NAME COMPILER SOURCE FLAGS...
  out=$work/$1 compiler=$2 source=$3
  shift 3
  "$compiler" -Wall -Wextra -Werror "$source" "$@" -o "$out" || fail "$out does not build"
}
cp "$here/identity.c" "$work/identity.cpp"
for name in smp-seq ofi-par ibv-par udp-parsync; do
  # shellcheck disable=SC2046 # flags are words
  build "c-$name" "$cc" "$here/identity.c" -std=c99 $(pkg-config --cflags --libs "gasnet-$name")
done
# shellcheck disable=SC2046
build cxx-smp-seq "$cxx" "$work/identity.cpp" -std=c++11 $(pkg-config --cflags --libs gasnet-smp-seq)
# shellcheck disable=SC2046
build cxx-ucx-par "$cxx" "$work/identity.cpp" -std=c++20 $(pkg-config --cflags --libs gasnet-ucx-par)

# With the fragment: an include in a Makefile of the client's own.
if command -v make >/dev/null; then
  for name in smp-seq mpi-par; do
    printf '%s\n' "include $tree/include/${name%-*}-conduit/$name.mak" \
      'mak: client.c' \
      '	$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) client.c -o $@ $(GASNET_LDFLAGS) $(GASNET_LIBS)' \
      >"$work/Makefile"
    cp "$here/identity.c" "$work/client.c"
    rm -f "$work/mak"
    make -C "$work" >"$work/make.log" 2>&1 || { cat "$work/make.log"; fail "fragment $name fails"; }
    mv "$work/mak" "$work/mak-$name"
  done
else
  echo "identities: no make here, the fragments are not tried"
fi

# The tools alone.
printf '#include <gasnet_tools.h>\nint main(void) { return gasnett_cpu_count() < 1; }\n' >"$work/tools.c"
for mode in seq par; do
  # shellcheck disable=SC2046
  build "tools-$mode" "$cc" "$work/tools.c" $(pkg-config --cflags --libs gasnet_tools-$mode)
  run "$work/tools-$mode" || fail "tools-$mode fails"
done

# ---- what stands in the files ----
for program in "$work"/c-* "$work"/cxx-* "$work"/mak-*; do
  [ -x "$program" ] || continue
  conduit=$(basename "$program" | cut -d- -f2 | tr '[:lower:]' '[:upper:]')
  for text in "\$GASNetConduitName: $conduit \$" '$GASNetConfig: (libgasnet-' '$GASNetThreadModel: '; do
    strings -a "$program" | grep -qF "$text" || complain "$program does not hold '$text'"
  done
  [ "$(strings -a "$program" | grep -c 'GASNetConduitName:')" = 1 ] ||
    complain "$program has several conduit names"
  if ldd "$program" | grep -qiE 'lib(mpi|mpich|open-rte)'; then complain "$program needs MPI"; fi
  if ldd "$program" | grep -q 'not found'; then complain "$program does not find its library"; fi
done

# A program of one mode with the archive of another must not link.
# shellcheck disable=SC2046
if "$cc" "$here/identity.c" $(pkg-config --cflags gasnet-smp-par) $(pkg-config --libs gasnet-smp-seq) \
  -o "$work/mixed" 2>"$work/err"; then
  complain "objects of par link with the archive of seq"
fi

# ---- running ----
run "$tree/bin/gasnetrun_smp" -n 4 -v "$work/c-smp-seq" || fail "gasnetrun_smp fails"
good || fail "gasnetrun_smp: wrong output"
run env GASNET_PSHM_NODES=4 "$work/c-smp-seq" || fail "GASNET_PSHM_NODES=4 fails"
good || fail "GASNET_PSHM_NODES=4: wrong output"
run env GASNET_PSHM_NODES=4 "$work/cxx-smp-seq" || fail "GASNET_PSHM_NODES=4 fails in C++"
good || fail "GASNET_PSHM_NODES=4 in C++: wrong output"
run env GASNET_PSHM_NODES=many "$work/c-smp-seq" && fail "GASNET_PSHM_NODES=many runs"
grep -q "GASNET_PSHM_NODES='many'" "$work/err" || fail "GASNET_PSHM_NODES=many is not named"
# It is smp's variable: of others it starts one rank.
run env GASNET_PSHM_NODES=4 "$work/c-ofi-par" || fail "ofi with GASNET_PSHM_NODES fails"
grep -q '^rank 0 of 1: ' "$work/out" || fail "an ofi program obeys GASNET_PSHM_NODES"

run "$tree/bin/gasnetrun_ofi" -spawner=fork -E PATH,HOME -n 4 -- "$work/c-ofi-par" || fail "gasnetrun_ofi fails"
good || fail "gasnetrun_ofi: wrong output"
run "$tree/bin/amudprun" -np 4 "$work/c-udp-parsync" || fail "amudprun fails"
good || fail "amudprun: wrong output"
run "$tree/bin/gasnetrun_ucx" -n 4 "$work/cxx-ucx-par" || fail "gasnetrun_ucx fails"
good || fail "gasnetrun_ucx: wrong output"
for name in smp-seq mpi-par; do
  [ -x "$work/mak-$name" ] || continue
  run "$tree/bin/gasnetrun_${name%-*}" -n 4 "$work/mak-$name" || fail "mak-$name fails"
  good || fail "mak-$name: wrong output"
done
# The status of the program is the launcher's.
code=0
run "$tree/bin/gasnetrun_smp" -n 2 "$work/c-smp-seq" exit 7 || code=$?
[ "$code" = 7 ] || fail "gasnetrun_smp answers $code for 7"
run env GASNET_SPAWNFN=S GASNET_SSH_SERVERS=elsewhere "$tree/bin/amudprun" -np 2 "$work/c-udp-parsync" &&
  fail "amudprun passes over another host"
# Hosts that were asked for reach the launcher, in its words; this host needs no ssh.
run env GASNET_SSH_SERVERS='a b,c' GASNET_SSH_OPTIONS=-q "$tree/bin/gasnetrun_ofi" -t -n 5 -N 2 prog x || fail "-N with -t fails"
grep -q -- 'causeway run -n 5 --hosts a,b --agent ssh -q -- prog x' "$work/err" || fail "hosts are not passed on"
run env GASNET_SSH_SERVERS=a "$tree/bin/gasnetrun_ofi" -n 5 -N 2 prog && fail "more hosts than are named"
run env GASNET_SPAWNFN=S GASNET_SSH_SERVERS=localhost "$tree/bin/amudprun" -np 4 "$work/c-udp-parsync" ||
  fail "amudprun with localhost as host fails"
good || fail "amudprun with localhost as host: wrong output"
printf 'localhost\n# a comment\nlocalhost\nlocalhost\nlocalhost\n' >"$work/machines"
run "$tree/bin/gaspi_run" -m "$work/machines" "$work/c-ofi-par" || fail "gaspi_run fails"
good || fail "gaspi_run: wrong output"
run "$tree/bin/gaspi_run" -m "$work/machines" -N -n 4 -b "$work/c-ofi-par" /no/such/program || fail "gaspi_run -b fails"
good || fail "gaspi_run -b: wrong output"
run "$tree/bin/gaspi_run" -m "$work/machines" -n 9 "$work/c-ofi-par" && fail "gaspi_run has more ranks than lines"
run "$tree/bin/gasnetrun_smp" -t -n 2 "$work/c-smp-seq" || fail "-t fails"
[ -s "$work/out" ] && fail "-t runs the program"

# ---- the promise of smp ----
# Without inline access every segment is in reach all the same; without mapping none is.
run env GASNET_PSHM_NODES=4 CAUSEWAY_SET=direct_map=never "$work/c-smp-seq" ||
  fail "smp does not run with direct_map=never"
good || fail "smp with direct_map=never: wrong output"
for breach in GASNET_SUPERNODE_MAXSIZE=1 'CAUSEWAY_SET=conduits.shm.native=[]' \
  'CAUSEWAY_SET=peers=[{use: [self, ofi]}],conduits.shm=null,conduits.ofi.plugin=ofi'; do
  run env GASNET_PSHM_NODES=2 "$breach" "$work/c-smp-seq" && fail "smp runs with $breach"
  grep -q 'all ranks share memory' "$work/err" || fail "$breach: no line that says why"
done

# ---- on one host: neighborhoods as asked for, and no library of a fabric is opened, which costs a start a second and more ----
for name in c-ofi-par c-ibv-par cxx-ucx-par; do
  run env GASNET_SUPERNODE_MAXSIZE=2 CAUSEWAY_SET=log.level=info "$tree/bin/gasnetrun_udp" -n 4 "$work/$name" nbrhd 2 ||
    fail "$name fails on one host"
  good || fail "$name on one host: wrong output"
  grep -E 'conduit (ofi|ucx|verbs)|provider' "$work/err" && fail "$name opens a network on one host"
done

# ---- between hosts, over the networks of the identity, here the one that all fall back to ----
# Two signs are two hosts.
on_two_hosts='[ "$PMIX_RANK" -lt "$0" ] && sign=hostname || sign=gethostid; GASNET_HOST_DETECT=$sign exec "$@"'
for name in c-udp-parsync c-ofi-par c-ibv-par cxx-ucx-par; do
  run env CAUSEWAY_SET=log.level=info "$tree/bin/gasnetrun_udp" -n 4 -- sh -c "$on_two_hosts" 2 "$work/$name" nbrhd 2 ||
    fail "$name fails over its network"
  good || fail "$name over its network: wrong output"
  grep -q 'eth, by rule network' "$work/err" || fail "$name does not take the conduit for Ethernet"
done
run "$tree/bin/gasnetrun_ibv" -n 2 -- sh -c "$on_two_hosts" 1 "$work/c-ibv-par" nbrhd 1 || fail "ibv fails"
[ "$(grep -c "no conduit 'verbs'" "$work/err")" = 1 ] || fail "ibv does not say once what it falls back from"

# ---- AMs run in an ibv program that does not poll; GASNET_RCV_THREAD turns that off ----
run "$tree/bin/gasnetrun_ibv" -n 2 "$work/c-ibv-par" thread 1 || fail "ibv has no progress thread"
run env GASNET_RCV_THREAD=0 "$tree/bin/gasnetrun_ibv" -n 2 "$work/c-ibv-par" thread 0 ||
  fail "GASNET_RCV_THREAD=0 is ignored"

# ---- GASNET_MAX_SEGSIZE, and what is stronger ----
run env GASNET_PSHM_NODES=2 GASNET_MAX_SEGSIZE=1.5MB/P "$work/c-smp-seq" segment 1572864 || fail "/P is ignored"
run env GASNET_PSHM_NODES=2 GASNET_MAX_SEGSIZE=4M/H "$work/c-smp-seq" segment 2097152 || fail "/H is ignored"
run env GASNET_PSHM_NODES=2 GASNET_MAX_SEGSIZE=65536 "$work/c-smp-seq" segment 65536 || fail "bytes are ignored"
run env GASNET_PSHM_NODES=2 GASNET_MAX_SEGSIZE=4M CAUSEWAY_SET=segment.max=1MiB "$work/c-smp-seq" \
  segment 1048576 || fail "CAUSEWAY_SET is weaker than GASNET_MAX_SEGSIZE"
run env GASNET_MAX_SEGSIZE=plenty "$work/c-smp-seq" && fail "GASNET_MAX_SEGSIZE=plenty runs"
grep -q 'GASNET_MAX_SEGSIZE=plenty' "$work/err" || fail "GASNET_MAX_SEGSIZE=plenty is not named"

# ---- users' variables: each does what it is known for ----
smp() { GASNET_PSHM_NODES=$1; export GASNET_PSHM_NODES; shift; run "$@"; code=$?; unset GASNET_PSHM_NODES; return $code; }
expect() { grep -qE -e "$1" "$work/err" || { cat "$work/err"; fail "$2"; }; }

smp 2 env GASNET_COLL_SCRATCH_SIZE=3MB "$work/c-smp-seq" scratch 3145728 || fail "GASNET_COLL_SCRATCH_SIZE is ignored"
smp 1 env GASNET_NO_CATCH_SIGNAL=SIGQUIT,USR1 "$work/c-smp-seq" signals 0 || fail "GASNET_NO_CATCH_SIGNAL is ignored"
smp 1 env 'GASNET_NO_CATCH_SIGNAL=*' "$work/c-smp-seq" signals 0 || fail "GASNET_NO_CATCH_SIGNAL=* is ignored"
smp 1 env GASNET_NO_CATCH_SIGNAL=SIGTERM "$work/c-smp-seq" signals 1 || fail "GASNET_NO_CATCH_SIGNAL=SIGTERM hides SIGQUIT"

# exit(0) without gasnet_exit, one rank after the other: nobody is ended, whether exits are caught or not.
for caught in 0 1; do
  smp 3 env GASNET_CATCH_EXIT=$caught "$work/c-smp-seq" leave 0 || fail "GASNET_CATCH_EXIT=$caught: a rank is missed"
  [ "$(grep -c 'left ok' "$work/out")" = 3 ] || fail "GASNET_CATCH_EXIT=$caught: ranks were ended"
done

# Debuggers: the process says that it waits, and does.
frozen() {
  : >"$work/err" # the background process may open it late, and the one before it waited too
  "$@" >"$work/out" 2>"$work/err" &
  pid=$! looks=0
  until grep -q 'waits for a debugger; set gasnet_frozen' "$work/err"; do
    kill -0 "$pid" 2>/dev/null || fail "$*: does not wait"
    looks=$((looks + 1))
    [ "$looks" -lt 300 ] || fail "$*: does not say that it waits"
    sleep 0.2
  done
  sleep 0.3
  kill -KILL "$pid" 2>/dev/null || fail "$*: does not wait"
  wait "$pid" 2>/dev/null || true
}
frozen env GASNET_FREEZE=1 "$work/c-ofi-par"
frozen env GASNET_FREEZE_SIGNAL=SIGUSR1 "$work/c-ofi-par" raise 10
printf '%s\n' '#include <gasnet.h>' 'int main(int c, char** v) { gasnet_init(&c, &v); gasnet_put_val(0, v, 1, 8); return 0; }' \
  >"$work/mistake.c"
# shellcheck disable=SC2046
build c-ofi-mistake "$cc" "$work/mistake.c" $(pkg-config --cflags --libs gasnet-ofi-seq)
frozen env GASNET_FREEZE_ON_ERROR=1 "$work/c-ofi-mistake"
expect 'called before gasnet_attach' "GASNET_FREEZE_ON_ERROR hides the error"
run env GASNET_FREEZE_ON_ERROR=0 GASNET_BACKTRACE=1 "$work/c-ofi-mistake" && fail "a mistake passes"
expect 'libcauseway.so' "GASNET_BACKTRACE prints no backtrace"
# A fault is a fatal error, too, unless the program's signals are its own.
printf '%s\n' '#include <gasnet.h>' 'int main(int c, char** v) { gasnet_init(&c, &v); *(volatile int*)(long)c = c; return 0; }' \
  >"$work/fault.c"
# shellcheck disable=SC2046
build c-ofi-fault "$cc" "$work/fault.c" $(pkg-config --cflags --libs gasnet-ofi-seq)
frozen env GASNET_FREEZE_ON_ERROR=1 "$work/c-ofi-fault"
run env GASNET_BACKTRACE=1 "$work/c-ofi-fault" && fail "a fault passes"
expect 'c-ofi-fault[(]' "GASNET_BACKTRACE prints no backtrace of a fault"
run env GASNET_BACKTRACE=1 GASNET_NO_CATCH_SIGNAL=SEGV "$work/c-ofi-fault" && fail "a fault passes"
! grep -q 'c-ofi-fault(' "$work/err" || fail "GASNET_NO_CATCH_SIGNAL leaves a handler"
smp 1 env GASNET_BACKTRACE_SIGNAL=USR2 "$work/c-smp-seq" raise 12 || fail "GASNET_BACKTRACE_SIGNAL ends the program"
expect 'libcauseway.so' "GASNET_BACKTRACE_SIGNAL prints no backtrace"
smp 1 env GASNET_FREEZE_SIGNAL=SIGNONSENSE "$work/c-smp-seq" && fail "GASNET_FREEZE_SIGNAL=SIGNONSENSE runs"
expect "GASNET_FREEZE_SIGNAL='SIGNONSENSE'" "GASNET_FREEZE_SIGNAL is not named"

# What is a host: two signs are two hosts, which then speak over the network.
run "$tree/bin/gasnetrun_ofi" -n 2 -- sh -c "$on_two_hosts" 1 "$work/c-ofi-par" hosts 2 ||
  fail "GASNET_HOST_DETECT=hostname is ignored"
for sign in hostname gethostid conduit; do
  smp 2 env GASNET_HOST_DETECT=$sign "$work/c-smp-seq" hosts 1 || fail "GASNET_HOST_DETECT=$sign: not one host"
done
smp 2 env GASNET_HOST_DETECT=guess "$work/c-smp-seq" && fail "GASNET_HOST_DETECT=guess runs"
expect "GASNET_HOST_DETECT='guess'" "GASNET_HOST_DETECT is not named"

run env GASNET_QUIET=1 "$tree/bin/gasnetrun_ibv" -n 2 -- sh -c "$on_two_hosts" 1 "$work/c-ibv-par" || fail "ibv fails"
grep -q "no conduit 'verbs'" "$work/err" && fail "GASNET_QUIET=1 is ignored"
smp 2 env GASNET_VERBOSEENV=1 GASNET_MAX_SEGSIZE=1MB "$work/c-smp-seq" || fail "GASNET_VERBOSEENV fails"
expect '^ENV parameter: GASNET_MAX_SEGSIZE = 1MB' "GASNET_VERBOSEENV does not report"
[ "$(grep -c 'GASNET_HOST_DETECT' "$work/err")" = 1 ] || fail "GASNET_VERBOSEENV reports on several ranks"
mkdir -p "$work/tmp"
run env GASNET_TMPDIR="$work/tmp" "$tree/bin/causeway" run -n 1 -- sh -c 'echo "$CAUSEWAY_SESSION_DIR"' || fail "GASNET_TMPDIR fails"
grep -q "^$work/tmp/" "$work/out" || fail "GASNET_TMPDIR is ignored"

# ---- how programs are started ----
run env GASNET_SPAWN_VERBOSE=1 "$tree/bin/gasnetrun_smp" -n 2 "$work/c-smp-seq" || fail "GASNET_SPAWN_VERBOSE fails"
expect 'gasnetrun_smp: .*causeway run -n 2' "GASNET_SPAWN_VERBOSE says nothing"
run env GASNET_SPAWNFN=C GASNET_CSPAWN_CMD="'$tree/bin/causeway' run -n %N -- %C" \
  "$tree/bin/amudprun" -np 4 "$work/c-udp-parsync" nbrhd 4 || fail "GASNET_CSPAWN_CMD fails"
good || fail "GASNET_CSPAWN_CMD: wrong output"
run env GASNET_SPAWNFN=C "$tree/bin/amudprun" -np 2 "$work/c-udp-parsync" && fail "GASNET_SPAWNFN=C runs without a command"
run env GASNET_OFI_SPAWNER=nonsense "$tree/bin/gasnetrun_ofi" -n 2 "$work/c-ofi-par" && fail "GASNET_OFI_SPAWNER=nonsense runs"
expect "spawner 'nonsense'" "GASNET_OFI_SPAWNER is not named"
run env GASNET_OFI_SPAWNER=nonsense "$tree/bin/gasnetrun_ofi" -spawner=fork -n 4 "$work/c-ofi-par" || fail "-spawner is weaker than GASNET_OFI_SPAWNER"
run env GASNET_UCX_SPAWNER=mpi "$tree/bin/gasnetrun_ucx" -t -n 2 "$work/cxx-ucx-par" || grep -q 'no mpirun' "$work/err" ||
  fail "GASNET_UCX_SPAWNER=mpi fails"
expect 'mpirun' "GASNET_UCX_SPAWNER=mpi does not use mpirun"
run env GASNET_UCX_SPAWNER=pmi "$tree/bin/gasnetrun_ucx" -t -n 2 "$work/cxx-ucx-par" || true
expect 'srun|prterun' "GASNET_UCX_SPAWNER=pmi uses neither srun nor prterun"
# Which hosts: the first of three lists that is there; comments are none.
printf '%s\n' '# hosts' 'alpha  # one' '' 'beta' >"$work/nodes"
hosts() { run env GASNET_SPAWNFN=S "$@" "$tree/bin/amudprun" -t -np 2 "$work/c-udp-parsync" || true; }
hosts GASNET_SSH_SERVERS=gamma,delta GASNET_SSH_NODEFILE="$work/nodes" GASNET_NODEFILE=/nonexistent
expect 'alpha' "GASNET_SSH_NODEFILE does not come first"
hosts GASNET_SSH_SERVERS='gamma delta' GASNET_NODEFILE="$work/nodes"
expect 'gamma' "GASNET_SSH_SERVERS does not come second"
hosts GASNET_NODEFILE="$work/nodes"
expect 'alpha' "GASNET_NODEFILE is ignored"
hosts GASNET_SSH_NODEFILE=/nonexistent
expect 'GASNET_SSH_NODEFILE=/nonexistent' "a missing host file is not named"
if "$tree/bin/causeway" run --help | grep -q -e --hosts; then
  hosts GASNET_SSH_SERVERS=gamma GASNET_SSH_CMD=rsh GASNET_SSH_OPTIONS=-x GASNET_SSH_REMOTE_PATH=/tmp GASNET_MASTERIP=10.0.0.1
  expect '[-]-hosts gamma --agent rsh -x --address 10.0.0.1 --directory /tmp' "GASNET_SSH_* are ignored"
fi
run env GASNET_SPAWNFN=S GASNET_SSH_SERVERS=localhost "$tree/bin/amudprun" -np 4 "$work/c-udp-parsync" || fail "localhost is another host"
good || fail "ssh to this host: wrong output"

# ---- GASNET_SEGMENT_EVERYTHING: a tree like a prefix of its own ----
all=$tree/lib/causeway/everything
export PKG_CONFIG_PATH="$all/lib/pkgconfig"
for conduit in udp mpi ibv ofi ucx; do
  for mode in seq parsync par; do
    for file in "include/$conduit-conduit/$conduit-$mode.mak" "lib/libgasnet-$conduit-$mode.a" "bin/gasnetrun_$conduit"; do
      [ -e "$all/$file" ] || complain "no $all/$file"
    done
    pkg-config --variable=GASNET_DEFINES "gasnet-$conduit-$mode" | grep -q -e ' -DGASNET_SEGMENT_EVERYTHING=1' ||
      complain "gasnet-$conduit-$mode of EVERYTHING says something else"
  done
done
[ -e "$all/include/gasnet_config.h" ] || complain "no headers in $all"
pkg-config --exists gasnet-smp-seq && complain "smp promises mapped memory with EVERYTHING"
cp "$here/everything.c" "$work/everything.cpp"
# shellcheck disable=SC2046
{
  build e-udp-seq "$cc" "$here/everything.c" -std=c99 $(pkg-config --cflags --libs gasnet-udp-seq)
  build e-ofi-par "$cxx" "$work/everything.cpp" -std=c++11 $(pkg-config --cflags --libs gasnet-ofi-par)
}
run "$all/bin/gasnetrun_udp" -n 4 "$work/e-udp-seq" || fail "EVERYTHING fails"
good || fail "EVERYTHING: wrong output"
run env GASNET_SUPERNODE_MAXSIZE=2 "$all/bin/gasnetrun_ofi" -n 4 "$work/e-ofi-par" || fail "EVERYTHING over a network fails"
good || fail "EVERYTHING over a network: wrong output"
strings -a "$work/e-udp-seq" | grep -qF 'SEGMENT=EVERYTHING' || complain "the config string does not say EVERYTHING"
# Objects for the one do not link with the archive of the other, nor do their ranks meet in a job.
# shellcheck disable=SC2046
if "$cc" "$here/everything.c" $(pkg-config --cflags gasnet-udp-seq) "$tree/lib/libgasnet-udp-seq.a" \
  -L"$tree/lib" -lcauseway -o "$work/mixed" 2>"$work/err"; then
  complain "objects for EVERYTHING link with the archive of the others"
fi
run "$tree/bin/gasnetrun_udp" -n 2 -- sh -c 'if [ "$PMIX_RANK" = 0 ]; then exec "$0"; else exec "$1"; fi' \
  "$work/e-udp-seq" "$work/c-udp-parsync" && fail "ranks with and without EVERYTHING make a job"
expect 'GASNET_SEGMENT_EVERYTHING' "no line that says why ranks do not meet"
exit $status
