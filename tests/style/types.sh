#!/bin/sh
# Would catch: two types of one name in one namespace, each complete in a file of its own. A program that links both has
# one's constructor run on the other's objects, and no compiler says so. Usage: types.sh SOURCE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
. "$here/files.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'namespace a {\nstruct Twice {\n};\n}  // namespace a\n' | tee "$work/one.h" >"$work/other.h"
! awk -f "$here/types.awk" "$work/one.h" "$work/other.h" >"$work/out" && grep -q 'a::Twice' "$work/out" || {
  echo "types: a type that stands twice is not noticed"
  exit 1
}
list_files | grep -E '^(core|plugins|tools|conduit-api|memkind-api)/.*\.(h|cpp)$' >"$work/files"
xargs awk -f "$here/types.awk" <"$work/files"
