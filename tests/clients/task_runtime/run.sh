#!/bin/sh
# Builds the task runtime with the headers of an installed tree and no library, and runs it over shared
# memory, messages alone, and two networks on this host.
# Usage: run.sh TREE WORK_DIR CXX
# Catches: a library that cannot be loaded after the start, an inline function without its symbol, a
# declaration in causeway/bindings.h that does not fit it, limits that are not told before a client exists.
set -eu
tree=$1 work=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
"$cxx" -std=c++17 -O2 -Wall -Wextra -Wno-cast-function-type -Werror -pthread -I "$tree/include" \
  "$here/main.cpp" "$here/library.cpp" -ldl -o "$work/task_runtime"
configs=$tree/share/causeway/configs
tried=0
for config in default sites/am-only sites/ofi-tcp sites/ucx-tcp; do
  # A build without the network's headers has no plugin for it.
  case $config in
    sites/ofi-tcp) [ -e "$tree/lib/causeway/2/conduit_ofi.so" ] || continue ;;
    sites/ucx-tcp) [ -e "$tree/lib/causeway/2/conduit_ucx.so" ] || continue ;;
  esac
  for ranks in 1 2 4; do
    timeout 120 "$tree/bin/causeway" run -n $ranks --config "$configs/$config.yaml" \
      "$work/task_runtime" "$tree/lib/libcauseway.so.0" >"$work/out" 2>&1 || {
      cat "$work/out"
      echo "task_runtime: fails with $config, $ranks ranks"
      exit 1
    }
    if ! grep -qx "task_runtime: 92 solutions by $ranks ranks in 191 tasks" "$work/out"; then
      cat "$work/out"
      echo "task_runtime: another result with $config, $ranks ranks"
      exit 1
    fi
    tried=$((tried + 1))
  done
done
echo "task_runtime: $tried jobs"
