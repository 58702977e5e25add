#!/bin/sh
# Compares what the client headers define inline, in every threading mode, with what the library exports
# and what the header for bindings declares.
# Usage: symbols.sh INCLUDE_DIR LIBRARY BINDINGS_H CC NM
# Catches: an inline function without its symbol, or with one outside the versioned set; a symbol that
# causeway/bindings.h does not declare, or a declaration without its symbol.
set -eu
include=$1 library=$2 bindings=$3 cc=$4 nm=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
public='^(gex|gasnet|gasnett)_'

# The names behind `static inline`, whichever attributes stand between.
inline_names() {
  tr '\n' ' ' | sed 's/__attribute__ *(([^()]*\(([^()]*)\)*[^()]*))//g' |
    grep -oE 'static inline [A-Za-z0-9_* ]+\(' | sed 's/ *($//; s/.*[ *]//'
}
for mode in GASNET_PAR GASNET_PARSYNC GASNET_SEQ GASNETT_THREAD_SINGLE; do
  {
    echo "#define $mode 1"
    for header in "$include"/*.h; do
      name=${header##*/}
      case $mode,$name in
        *,GASPI*) continue ;;
        GASNETT_*,gasnet_tools.h) ;;
        GASNETT_*) continue ;;
      esac
      echo "#include <$name>"
    done
  } >"$work/all.c"
  "$cc" -std=gnu99 -E -P -I "$include" "$work/all.c" | inline_names
done | grep -E "$public" | sort -u >"$work/inline"
[ "$(wc -l <"$work/inline")" -gt 400 ] || { echo "symbols: found only $(wc -l <"$work/inline") inline functions"; exit 1; }

"$nm" -D --defined-only "$library" | sed -n 's/^[0-9a-f]* \([TDBR] .*\)@@CAUSEWAY_1$/\1/p' |
  grep -E " ${public#^}" >"$work/symbols"
sed 's/^. //' "$work/symbols" | sort -u >"$work/exported"
# Variables may be there for debuggers alone.
sed -n 's/^T //p' "$work/symbols" | sort -u >"$work/functions"
grep '^extern ' "$bindings" | sed -E 's/^extern .*\(\*([a-z]+_[A-Za-z0-9_]+)\)\(.*/\1/; t
  s/ *[(;].*//; s/.*[ *]//' | grep -E "$public" | sort -u >"$work/declared"

status=0
report() {
  [ -s "$work/$1" ] || return 0
  sed "s|.*|symbols: & $2|" "$work/$1"
  status=1
}
comm -23 "$work/inline" "$work/exported" >"$work/missing"
comm -23 "$work/functions" "$work/declared" >"$work/undeclared"
comm -13 "$work/exported" "$work/declared" >"$work/empty"
report missing 'is inline in a header and no symbol of the library: does core/api/bindings/out_of_line.c include it?'
report undeclared 'is a symbol that causeway/bindings.h does not declare'
report empty 'is declared in causeway/bindings.h and no symbol of the library'
[ $status -ne 0 ] || echo "symbols: $(wc -l <"$work/inline") inline functions, $(wc -l <"$work/functions") in all, all declared"
exit $status
