#!/bin/sh
# Whether the installed texts are whole: what they link to or cite by name is in the tree, and nothing points into
# a source tree.
# Usage: texts.sh TREE WORK_DIR LOWDOWN
# Catches: a link that leads out of the tree; a README cited that nobody installs.
set -eu
tree=$1 work=$2 lowdown=$3
doc=$tree/share/doc/causeway
rm -rf "$work"
mkdir -p "$work"
: >"$work/complaints"
complain() { echo "texts: ${file#"$tree"/}: $*" >>"$work/complaints"; }

# Texts that the project writes; documents of others (share/causeway/gasnet) are as they came.
find "$tree/share" "$tree/include/causeway" -type f \
  \( -name '*.md' -o -name '*.h' -o -path '*/example/*' \) ! -path '*/share/causeway/gasnet/*' >"$work/files"
[ -s "$work/files" ] || { echo "texts: no text is installed"; exit 1; }
while read -r file; do
  here=$(dirname "$file")
  # Targets of links, relative to the file.
  case $file in *.md)
    grep -o ']([^)#: ]*' "$file" | cut -c3- | sort -u | while read -r target; do
      [ -z "$target" ] || [ -e "$here/$target" ] || complain "the link to $target leads nowhere"
    done || true
    ;;
  esac
  # Files cited by name: texts, headers, and paths from the prefix on.
  grep -oE '[A-Za-z0-9_./-]+\.md\b' "$file" | sort -u | while read -r name; do
    [ -e "$here/$name" ] || [ -e "$doc/$name" ] || [ -e "$tree/$name" ] || complain "cites $name, which is not installed"
  done || true
  grep -oE '\b(share|include|libexec)/[a-z][A-Za-z0-9_./-]*[A-Za-z0-9_]' "$file" | sort -u | while read -r name; do
    [ -e "$tree/$name" ] || case $file in *.md) complain "names $name, which is not installed" ;; esac
  done || true
  grep -oE '\bcauseway/[a-z_]+\.h\b' "$file" | sort -u | while read -r name; do
    [ -e "$tree/include/$name" ] || complain "names the header $name, which is not installed"
  done || true
  grep -oE '\bcauseway-[a-z]+\(7\)' "$file" | sort -u | while read -r name; do
    [ -z "$lowdown" ] || [ -e "$tree/share/man/man7/${name%(7)}.7" ] || complain "names $name, which is no page"
  done || true
  # The README speaks of the tree that it was built from; other texts have no business there.
  [ "$file" = "$doc/README.md" ] ||
    grep -noE '(^|[^/a-z])(conduit-api|memkind-api|collective-api|plugins|core|tests|tools)/[a-z][A-Za-z0-9_./-]*' "$file" |
    while read -r name; do complain "points into a source tree: $name"; done || true
done <"$work/files"

cat "$work/complaints"
[ ! -s "$work/complaints" ]
