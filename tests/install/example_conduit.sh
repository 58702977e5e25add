#!/bin/sh
# The story of a vendor: builds the example conduit from an installed tree only, shows it to
# `causeway info` and `causeway check-plugin`, and runs a program of 4 ranks over it and nothing
# else, which was compiled before the conduit existed.
# Usage: example_conduit.sh TREE WORK_DIR CLIENT CC
# Catches: a plugin interface that needs more than the installed headers, emulation that leans on
# a native operation, a conduit that is listed but not used (the report at exit names it).
set -eu
tree=$1 work=$2 client=$3 cc=$4
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
cp -r "$tree/share/causeway/example" "$work/source"
build() {
  cmake -S "$work/source" -B "$work/build" -DCMAKE_PREFIX_PATH="$tree" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS=-Werror && cmake --build "$work/build"
}
build >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
plugin=$work/build/conduit_uds.so

# Loads nothing of ours: every undefined symbol is the C library's.
if nm -D --undefined-only "$plugin" | grep -E ' (gex_|gasnet|cwy)'; then
  echo "example: the plugin links symbols of the core"
  exit 1
fi

"$tree/bin/causeway" check-plugin "$plugin" >"$work/check.log" 2>&1 || {
  cat "$work/check.log"
  echo "example: check-plugin rejects the example conduit"
  exit 1
}

# Installed from its own project, into a tree of its own that the configuration points to.
cmake --install "$work/build" --prefix "$work/vendor" >>"$work/build.log"
path=$work/vendor/lib/causeway/2
run() {
  timeout 100 "$tree/bin/causeway" run -n 4 --config "$work/source/uds.yaml" \
    --set "plugins.path=[$path]" "$@"
}
run --set report=true "$client" >"$work/run.out" 2>"$work/run.err" || {
  cat "$work/run.out" "$work/run.err"
  echo "example: the program fails over uds"
  exit 1
}
if [ "$(grep -c '^rank [0-3] of 4: ok$' "$work/run.out")" != 4 ]; then
  cat "$work/run.out" "$work/run.err"
  echo "example: not every rank finished its work"
  exit 1
fi
if ! grep -q 'uds: sent' "$work/run.err" || grep -Eq '(shm|self): sent' "$work/run.err"; then
  cat "$work/run.out" "$work/run.err"
  echo "example: the report does not say that uds, and only uds, carried the messages"
  exit 1
fi
