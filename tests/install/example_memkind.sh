#!/bin/sh
# The other story of a vendor: builds the example memory kind from an installed tree only, shows it
# to `causeway check-plugin`, and runs a program that puts and gets memory of that kind.
# Usage: example_memkind.sh TREE WORK_DIR CLIENT_SOURCE CC
# Catches: a kind's interface that needs more than the installed headers, and a core that knows only
# the kinds of its own tree.
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
plugin=$work/build/memkind_attic.so
if nm -D --undefined-only "$plugin" | grep -E ' (gex_|gasnet|cwy)'; then
  echo "example: the plugin links symbols of the core"
  exit 1
fi
"$tree/bin/causeway" check-plugin "$plugin" >"$work/check.log" 2>&1 || {
  cat "$work/check.log"
  echo "example: check-plugin rejects the example memory kind"
  exit 1
}
lib=$(dirname "$(find "$tree" -name libcauseway.so | head -n 1)")
"$cc" -Wall -Wextra -Werror -I"$tree/include" "$client" -o "$work/client" -L"$lib" -lcauseway \
  -Wl,-rpath,"$lib"
for more in '' '--set memkinds.attic.chunk=64KiB --set memkinds.attic.depth=2'; do
  # shellcheck disable=SC2086 # several words on purpose
  timeout 100 "$tree/bin/causeway" run -n 3 --set "plugins.path=[$work/build]" \
    --set "plugins.memkinds=[host,attic]" $more "$work/client" >"$work/run.out" 2>&1 || {
    cat "$work/run.out"
    echo "example: the program fails over memory of the example kind"
    exit 1
  }
  if [ "$(grep -c '^rank [0-2] of 3: ok$' "$work/run.out")" != 3 ]; then
    cat "$work/run.out"
    echo "example: not every rank finished its work"
    exit 1
  fi
done
