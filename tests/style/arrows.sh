#!/bin/sh
# No file includes upward: tests/style/rooms.order has the order of the rooms.
# Usage: arrows.sh SOURCE_DIR
# Catches: an include of a room that stands later in the order, a room that the order does not name. There
# are no exceptions.
set -eu
cd "$1"
order=tests/style/rooms.order
# In a clone, what git knows; in an unpacked archive, what is there.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files; else
    find . -type f ! -path './build*' ! -path './.git/*' | sed 's|^\./||'
  fi | grep -E '^(core|plugins|conduit-api|memkind-api)/.*\.(c|cpp|h|hpp)$' | grep -v '^plugins/example/'
}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
files >"$list"
# Each line of grep: FILE:#include "NAME" or FILE:#include <NAME>.
xargs grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+[">]' /dev/null <"$list" |
  awk -f tests/style/arrows.awk "$order" "$list" -
