#!/bin/sh
# The house has the rooms that were agreed on, and each explains itself.
# Usage: layout.sh SOURCE_DIR
# Catches: a new file or folder at the top level, a room without a README, a source file past the
# length at which a reader gets lost, a heading of the README past one screen.
set -eu
. "$(dirname "$0")/files.sh"
cd "$1"
status=0
complain() { echo "layout: $*"; status=1; }
files=$(list_files)
rooms='core plugins conduit-api memkind-api configs tests tools'
for entry in $(echo "$files" | cut -d/ -f1 | sort -u); do
  case " $rooms CMakeLists.txt README.md LICENSE CMakePresets.json " in
    *" $entry "*) ;;
    *) case $entry in .*) ;; *) complain "$entry does not belong at the top level" ;; esac ;;
  esac
done
inner=$(echo "$files" | grep -E '^(core|tests|tools)/[^/]+/|^plugins/(conduit|memkind|collective)/[^/]+/' |
  sed -E 's#^(plugins/[^/]+/[^/]+|[^/]+/[^/]+)/.*#\1#' | sort -u)
for room in $rooms; do
  [ -s "$room/README.md" ] || complain "$room has no README.md"
done
# A folder within has its own, or a line in the map of the room it stands in.
for folder in $inner; do
  room=${folder%%/*}
  [ -s "$folder/README.md" ] || grep -qF "\`${folder#*/}/\`" "$room/README.md" ||
    complain "$folder has no README.md, and $room/README.md does not name it"
done
# The README's headings keep to one screen of words, code apart.
broad=$(awk '
  function told() { if (words > 250 || lines > 50) print "README.md has " words " words in " lines " lines under " heading }
  /^## / { told(); heading = $0; words = lines = 0 }
  /^```/ { fenced = !fenced }
  { ++lines; if (!fenced) words += NF }
  END { told() }' README.md)
[ -z "$broad" ] || complain "$broad, more than a screen"
long=$(echo "$files" | grep -E '\.(c|h|cpp|hpp)$' | xargs wc -l |
  awk '$2 != "total" && $1 > 700 { print $2 " has " $1 " lines, more than 700" }')
[ -z "$long" ] || complain "$long"
exit $status
