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
      -L*"/lib -lgasnet-$conduit-$mode -lcauseway") ;;
      *) complain "$name: GASNET_LIBS does not begin with -L<prefix>/lib" ;;
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

# ---- between neighborhoods, over the networks of the identity, here the one that ibv falls back to ----
for name in c-ofi-par c-ibv-par cxx-ucx-par; do
  run env GASNET_SUPERNODE_MAXSIZE=2 "$tree/bin/gasnetrun_udp" -n 4 "$work/$name" nbrhd 2 ||
    fail "$name fails over its network"
  good || fail "$name over its network: wrong output"
done
run env GASNET_SUPERNODE_MAXSIZE=1 "$tree/bin/gasnetrun_ibv" -n 2 "$work/c-ibv-par" nbrhd 1 || fail "ibv fails"
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
exit $status
