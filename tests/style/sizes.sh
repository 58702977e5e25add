#!/bin/sh
# The house stays as small as it is: prints each figure of sizes.list beside its ceiling and its target.
# Usage: sizes.sh SOURCE_DIR [STRIP LIBRARY VERSION_OF_GCC]
# Catches: a figure over its ceiling. The size of a library that is not there, or that no version of the list has
# made, is left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"
cd "$1"
# Rooms of the kernel.
kernel='base spawn config loader bootstrap kinds thread connection object progress am rma process'
# Files that are tables: length is no fault there.
tables='core/include/GASPI.h'
# READMEs that are more than a room's: the project's, the architecture, the configuration, the plugin interface.
pages='README.md core/README.md configs/README.md conduit-api/README.md'

sources=$(list_files | grep -E '\.(c|h|cpp)$' | grep -v '^tests/')
lines_of() { xargs cat | wc -l; }
rooms=$(echo $kernel | tr ' ' '|')
longest=$(echo "$sources" | grep -vxF "$tables" | xargs wc -l | awk '$2 != "total"' | sort -rn)
readmes=$(list_files | grep -E '(^|/)README\.md$' | grep -vxF "$(echo $pages | tr ' ' '\n')")
functions=$(echo "$sources" | xargs awk -f "$here/functions.awk" | sort -rn | head -n 5)

measure() {
  case $1 in
    kernel_lines) echo "$sources" | grep -E "^core/(($rooms)/|wiring)" | lines_of ;;
    production_lines) echo "$sources" | lines_of ;;
    library_bytes_gcc*)
      [ -e "$library" ] && [ "${1#library_bytes_gcc}" = "${version%%.*}" ] || return 0
      stripped=$(mktemp)
      "$strip" -o "$stripped" "$library" && wc -c <"$stripped"
      rm -f "$stripped" ;;
    function_lines) echo "$functions" | awk 'NR == 1 { print $1 }' ;;
    file_lines) echo "$longest" | awk 'NR == 1 { print $1 }' ;;
    readme_lines) echo "$readmes" | xargs wc -l | awk '$2 != "total" && $1 > n { n = $1 } END { print n }' ;;
    files_over_500) echo "$longest" | awk '$1 > 500 { ++n } END { print n + 0 }' ;;
    *) echo "sizes: sizes.list names '$1', which nothing measures" >&2; return 1 ;;
  esac
}

strip=${2:-} library=${3:-} version=${4:-}
status=0
printf '%-20s %10s %10s %10s\n' figure today ceiling target
while read -r figure ceiling target; do
  today=$(measure "$figure")
  printf '%-20s %10s %10s %10s\n' "$figure" "${today:--}" "$ceiling" "$target"
  if [ "${today:-0}" -gt "$ceiling" ]; then
    echo "sizes: $figure is $today, more than $ceiling: make it smaller"
    status=1
  fi
done <<EOF
$(grep -v '^#' "$here/sizes.list")
EOF
echo "the longest functions:"
echo "$functions"
echo "files of more than 500 lines:"
echo "$longest" | awk '$1 > 500 { print $1, $2 }'
exit $status
