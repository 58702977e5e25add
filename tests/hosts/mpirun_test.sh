#!/bin/sh
# mpirun_test.sh PROGRAM exchange|many|death|client
# Would catch: a bootstrap that only understands our own launcher's PMIx server, ranks that each
# believe to be alone under mpirun, and survivors that hang when a rank dies there.
program=$1
case=$2
if ! command -v mpirun >/dev/null 2>&1; then
  echo "SKIPPED: mpirun is not installed (Debian: openmpi-bin)"
  exit 77
fi
if ! mpirun --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE'; then
  echo "SKIPPED: mpirun is not Open MPI's: $(mpirun --version 2>&1 | head -n 1)"
  exit 77
fi
run() {
  timeout -k 5 60 mpirun --allow-run-as-root --oversubscribe "$@" 2>&1
}
fail() {
  echo "FAILED: $*"
  exit 1
}
# Also checks that our launcher's variables are not taken for mpirun's.
unset CAUSEWAY_RANKS CAUSEWAY_SESSION_DIR
case $case in
  exchange|many)
    ranks=4
    [ "$case" = many ] && ranks=16   # beyond the direct exchange
    out=$(run -n $ranks "$program" init exchange exchange fence finalize) || fail "status $?: $out"
    count=$(echo "$out" | grep -c "of $ranks has all cards")
    [ "$count" = $((2 * ranks)) ] || fail "$count of $((2 * ranks)) exchanges: $out"
    ;;
  client)
    # PROGRAM is a GASNet client here: ranks of one host, over shm, that end with gasnet_exit(0).
    for ranks in 1 4; do
      out=$(run -n $ranks "$program") || fail "status $?: $out"
      count=$(echo "$out" | grep -c "of $ranks: the rank before me is")
      [ "$count" = $ranks ] || fail "$count of $ranks ranks: $out"
      ! echo "$out" | grep -q 'causeway:' || fail "complaints: $out"
    done
    ;;
  death)
    begin=$(date +%s)
    out=$(run -n 4 "$program" init exchange @2:kill=9 fence finalize)
    status=$?
    [ $status = 137 ] || fail "status $status: $out"
    [ $(($(date +%s) - begin)) -lt 20 ] || fail "took too long: $out"
    ;;
esac
echo "passed"
