#!/bin/sh
# Builds the example conduit simnic from an installed tree only, into WORK_DIR/build. The tests beside this
# file run over it.
# Usage: build.sh TREE WORK_DIR CXX
# Catches: a plugin interface of which a conduit in several files of C++ needs more than what is installed.
set -eu
tree=$1 work=$2 cxx=$3
rm -rf "$work"
mkdir -p "$work"
cp -r "$tree/share/causeway/example/simnic" "$work/source"
{ cmake -S "$work/source" -B "$work/build" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_CXX_FLAGS=-Werror && cmake --build "$work/build"; } >"$work/build.log" 2>&1 || {
  cat "$work/build.log"
  exit 1
}
if nm -D --undefined-only "$work/build/conduit_simnic.so" | grep -E ' (gex_|gasnet|cwy)'; then
  echo "simnic: the plugin links symbols of the core"
  exit 1
fi
