#!/bin/sh
# The internal interface is what core/kernel.list says, and no other build's.
# Usage: kernel_interface.sh SOURCE_DIR LIBCAUSEWAY LIBCAUSEWAY_GASPI NM
# Catches: a header or a name of the list that nothing needs, a header that is missing there, state of the
# kernel that both libraries have, and a pair of libraries of two builds that the dynamic linker takes.
set -eu
source=$1 kernel=$2 gaspi=$3 nm=$4
filt=${nm%nm}c++filt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
report() {
  [ -s "$work/$1" ] || return 0
  sed "s|.*|kernel_interface: & $2|" "$work/$1"
  status=1
}
# Sorted names, on which every form of a constructor is one.
plain() { "$filt" | sort -u; }

"$nm" -D --defined-only --with-symbol-versions "$kernel" |
  sed -n 's/^[0-9a-f]* [B-Z] \(.*\)@@CAUSEWAY_KERNEL_.*/\1/p' | plain >"$work/offered"
"$nm" -D --undefined-only --with-symbol-versions "$gaspi" |
  sed -n 's/^ *[Uw] \(.*\)@CAUSEWAY_KERNEL_.*/\1/p' | plain >"$work/asked"
[ -s "$work/asked" ] || { echo "kernel_interface: $gaspi asks for nothing"; exit 1; }
comm -23 "$work/offered" "$work/asked" >"$work/needless"
report needless 'is offered and not asked for: take it out of core/kernel.list'

# Each name of the list, as the symbols begin.
sed -n '/^  with /d; s/^  \(.* for \)*/\1causeway::/p' "$source/core/kernel.list" | sort >"$work/listed"
sed 's/\[abi:[a-z0-9]*\]//' "$work/offered" >"$work/found"
while read -r name; do
  grep -qE "^$(printf %s "$name" | sed 's/[()&]/\\&/g')(\(|$)|^$(printf %s "$name" | sed 's/[()&]/\\&/g')\$" \
    "$work/found" || echo "$name"
done <"$work/listed" >"$work/stale"
report stale 'is in core/kernel.list and no symbol of libcauseway.so'

grep -E '^[a-z]' "$source/core/kernel.list" | sort >"$work/headers"
cat "$source"/core/api/gaspi/*.h "$source"/core/api/gaspi/*.cpp | sed -n 's/^#include "\(.*\)"$/\1/p' |
  grep -v '^api/gaspi/' | sort -u >"$work/included"
comm -23 "$work/headers" "$work/included" >"$work/unused"
report unused 'is in core/kernel.list and not included by core/api/gaspi'
comm -13 "$work/headers" "$work/included" >"$work/unlisted"
report unlisted 'is included by core/api/gaspi and not in core/kernel.list'

# Variables and type_infos of the kernel belong to libcauseway.so alone.
"$nm" --defined-only "$gaspi" | "$filt" | sed -n 's/^[0-9a-f]* [bBdDuVvW] //p' |
  grep -E '^(guard variable for |typeinfo for |vtable for )*causeway::' |
  grep -vE 'causeway::gaspi::|^[^(]*\(' >"$work/twice" || true
report twice 'is state of the kernel that libcauseway_gaspi.so has once more: declare it extern, or do not inline it'

# The library with another digest in the name of the version.
version=$("$nm" -D --defined-only "$kernel" | sed -n 's/.* A \(CAUSEWAY_KERNEL_[0-9.]*\)_.*/\1/p')
mkdir "$work/other"
cp "$gaspi" "$work/other/libcauseway_gaspi.so.0"
LC_ALL=C sed "s/${version}_............/${version}_anotherbuild/" "$kernel" >"$work/other/libcauseway.so.0"
if answer=$(env LD_LIBRARY_PATH="$work/other" LD_PRELOAD="$work/other/libcauseway_gaspi.so.0" true 2>&1); then
  echo "kernel_interface: libraries of two builds were loaded together"
  status=1
else
  case $answer in
    *"version \`$version"*"not found (required by "*) ;;
    *) echo "kernel_interface: two builds, and no line that says so: $answer"; status=1 ;;
  esac
fi
[ $status -ne 0 ] || echo "kernel_interface: $(wc -l <"$work/asked") names of $(wc -l <"$work/headers") headers"
exit $status
