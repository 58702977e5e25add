#!/bin/sh
# Ranks whose launcher exports virtual networks of its fabric, the same and different ones.
# Usage: vnis.sh CAUSEWAY PROGRAM LAUNCHER_FLAG...
# Catches: credentials of a job that do not reach the conduit, or not as the launcher exports them.
set -eu
causeway=$1 program=$2
shift 2
start() {
  each=$1
  shift
  "$causeway" run -n 2 --timeout 60 "$@" -- sh -c "SLINGSHOT_VNIS=$each exec '$program' barrier" 2>&1
}
start '1000,1001' "$@" || { echo "vnis: ranks of one virtual network do not meet"; exit 1; }
if out=$(start '$PMIX_RANK' "$@"); then
  printf '%s\n' "$out"
  echo "vnis: ranks of different virtual networks have met"
  exit 1
fi
case $out in
  *"another virtual network (its SLINGSHOT_VNIS differs)"*) ;;
  *)
    printf '%s\n' "$out"
    echo "vnis: nothing says why"
    exit 1
    ;;
esac
