#!/bin/sh
# The story of whoever has an algorithm of their own: builds the example collective plugin from an
# installed tree only, shows it to `causeway info` and `causeway check-plugin`, and sees in the
# counters of a program compiled before it that an edit of the configuration makes it run.
# Usage: example_collective.sh TREE WORK_DIR COUNTED_CPP CC CXX
# Catches: an interface that needs more than the installed headers; a conformance suite that rejects
# a plain algorithm; a plugin that is listed but not chosen, or chosen though nobody said so.
set -eu
tree=$1 work=$2 counted=$3 cc=$4 cxx=$5
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
fail() {
  cat "$work"/*.log "$work"/out "$work"/err 2>/dev/null || true
  echo "example_collective: $1"
  exit 1
}

PKG_CONFIG_PATH=$tree/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$cxx" -std=c++20 -DGASNET_SEQ "$counted" $(pkg-config --cflags --libs causeway) -Wl,-rpath,"$tree/lib" \
  -o "$work/counted" >"$work/client.log" 2>&1 || fail "the program does not compile"

cp -r "$tree/share/causeway/example/collective" "$work/source"
{
  cmake -S "$work/source" -B "$work/build" -DCMAKE_PREFIX_PATH="$tree" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS=-Werror && cmake --build "$work/build" &&
    cmake --install "$work/build" --prefix "$work/vendor"
} >"$work/build.log" 2>&1 || fail "the plugin does not build"
plugin=$work/build/collective_linear.so
if nm -D --undefined-only "$plugin" | grep -E ' (gex_|gasnet|cwy)'; then
  fail "the plugin links symbols of the core"
fi
"$tree/bin/causeway" check-plugin "$plugin" >"$work/check.log" 2>&1 ||
  fail "check-plugin rejects the example"

path=$work/vendor/lib/causeway/2
run() {
  timeout 100 "$tree/bin/causeway" run -n 3 --set "plugins.path=[$path]" "$@" "$work/counted" \
    >"$work/out" 2>"$work/err" || fail "the program fails"
}
run --config "$work/source/linear.yaml"
grep -q 'broadcast linear/linear 2' "$work/out" || fail "the counters do not show the algorithm"
run --set 'plugins.collectives=[base,hier,linear]'
! grep -q 'linear' "$work/out" || fail "it ran though no rule names it"
