#!/bin/sh
# mpirun_gaspi_test.sh mixed|plain|dead INCLUDE GENERATED LIBRARIES SPEC SOURCE [CONFIG]
# GASPI under Open MPI's mpirun: in a program that calls MPI too (mixed), which mpicc compiles here,
# and in one that does not (plain); and a rank that dies there (dead: SPEC is spec_gaspi_noticing), of
# which nobody is told. Would catch: two users of PMIx in one process that disturb each other, ranks
# numbered otherwise than MPI's, a goodbye of one that ends the other; a barrier that waits for the
# dead until the others leave.
case=$1 include=$2 generated=$3 libraries=$4 spec=$5 source=$6 config=${7:-}
skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}
command -v mpirun >/dev/null 2>&1 || skip "mpirun is not installed (Debian: openmpi-bin)"
mpirun --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE' || skip "mpirun is not Open MPI's"
[ -z "$config" ] || export CAUSEWAY_CONFIG="$config"
unset CAUSEWAY_RANKS CAUSEWAY_SESSION_DIR
run() {
  timeout -k 5 100 mpirun --allow-run-as-root --oversubscribe "$@" 2>&1
}
case $case in
  mixed)
    # openmpi-bin alone brings mpicc, but no header.
    echo '#include <mpi.h>' | mpicc -x c -fsyntax-only - >/dev/null 2>&1 ||
      skip "mpicc or its headers are not installed (Debian: libopenmpi-dev)"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mpicc -std=c99 -O1 -I"$include" -I"$generated" "$source" -o "$work/mixed" -L"$libraries" \
      -lcauseway_gaspi -Wl,-rpath,"$libraries" || fail "mpicc"
    for ranks in 2 3; do
      out=$(run -n $ranks "$work/mixed" 20) || fail "$ranks ranks, status $?: $out"
      echo "$out" | grep -q "20 turns on $ranks ranks: well" || fail "no answer: $out"
    done
    ;;
  plain)
    out=$(run -n 3 "$spec" info process segments transfer.write_notify atomics) ||
      fail "status $?: $out"
    echo "$out" | grep -q ' 0 failed.* on 3 ranks' || fail "$out"
    ;;
  dead)
    # The status is that of the dead one.
    out=$(run --enable-recovery -n 4 "$spec" unconnected) || :
    [ "$(echo "$out" | grep -c 'unconnected: well')" = 3 ] || fail "$out"
    ;;
  *) fail "no case '$case'" ;;
esac
echo "passed"
