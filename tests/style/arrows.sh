#!/bin/sh
# No file includes upward: tests/style/rooms.order has the order of the rooms.
# Usage: arrows.sh SOURCE_DIR [--list]
# Catches: an include of a room that stands later in the order, a room that the order does not name, an
# entry of arrows.todo that is not needed any more. --list prints the upward includes as arrows.todo
# has them.
set -eu
cd "$1"
order=tests/style/rooms.order
todo=tests/style/arrows.todo
[ "${2:-}" = --list ] && todo=/dev/null
# In a clone, what git knows; in an unpacked archive, what is there.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files; else
    find . -type f ! -path './build*' ! -path './.git/*' | sed 's|^\./||'
  fi | grep -E '^(core|plugins|conduit-api|memkind-api)/.*\.(c|cpp|h|hpp)$' | grep -v '^plugins/example/'
}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
files >"$list"
[ -f "$todo" ] || todo=/dev/null
# Each line of grep: FILE:#include "NAME" or FILE:#include <NAME>.
xargs grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+[">]' /dev/null <"$list" |
  awk -v listing="${2:-}" -f tests/style/arrows.awk "$order" "$list" "$todo" -
