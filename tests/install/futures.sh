#!/bin/sh
# Builds the futures library of tests/clients from the adapter tree, through its own configure script,
# and runs its program with 1, 2 and 4 ranks.
# Usage: futures.sh TREE WORK_DIR CC CXX
# Catches: handles that cannot live in void* slots, warnings in a C++ library that does so.
set -eu
tree=$1 work=$2 CC=$3 CXX=$4 PREFIX=$1
here=$(cd "$(dirname "$0")/../clients/futures" && pwd)
rm -rf "$work"
cp -R "$here" "$work"
cd "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
export PREFIX CC CXX
for IDENTITY in gasnet-udp-seq gasnet-udp-par; do
  export IDENTITY
  rm -f futures ./*.o
  ./build.sh >log 2>&1 || { cat log config.log; echo "futures: no build for $IDENTITY"; exit 1; }
  ! grep -i warning log || { cat log; echo "futures: warnings for $IDENTITY"; exit 1; }
  for ranks in 1 2 4; do
    timeout 60 "$tree/bin/causeway" run -n $ranks ./futures >out || { cat out; exit 1; }
    [ "$(grep -c "^rank [0-9]* of $ranks: ok$" out)" = $ranks ] || {
      cat out
      echo "futures: not all of $ranks ranks are ok"
      exit 1
    }
  done
done
