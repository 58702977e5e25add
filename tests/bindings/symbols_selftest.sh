#!/bin/sh
# Shows symbols.sh headers with one function more, a library with one less, and a declaration too few.
# Usage: symbols_selftest.sh CHECK INCLUDE_DIR LIBRARY BINDINGS_H CC NM
# Catches: a symbols.sh that cannot fail.
set -eu
check=$1 include=$2 library=$3 bindings=$4 cc=$5 nm=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
refused() { # NAME INCLUDE_DIR LIBRARY BINDINGS_H
  if "$check" "$2" "$3" "$4" "$cc" "$nm" >"$work/out" 2>&1 || ! grep -q "symbols: $1 " "$work/out"; then
    cat "$work/out"
    echo "symbols_selftest: $1 was not missed"
    exit 1
  fi
}
cp -r "$include" "$work/include"
echo 'static inline int gex_Selftest_New(void) { return 0; }' >>"$work/include/gasnet_mk.h"
refused gex_Selftest_New "$work/include" "$library" "$bindings"

grep -v 'gex_TM_QueryRank(' "$bindings" >"$work/bindings.h"
refused gex_TM_QueryRank "$include" "$library" "$work/bindings.h"

echo 'extern int gasnet_selftest(void);' >>"$work/bindings.h"
refused gasnet_selftest "$include" "$library" "$work/bindings.h"
