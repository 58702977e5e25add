#!/bin/sh
# Makes the pages of section 1 and the completions from what `causeway` says of itself.
# Usage: make.sh OUT_DIR VERSION KEYS_README COMMAND...
#   COMMAND     what runs `causeway`, an emulator before it where there is one
# Leaves OUT_DIR/man1/*.1, OUT_DIR/bash/causeway, OUT_DIR/zsh/_causeway, OUT_DIR/fish/causeway.fish. The same
# input gives the same files: no date, no path, no locale enters.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1 version=$2 readme=$3
shift 3
export LC_ALL=C COLUMNS=10000 # help is not folded
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
rm -rf "$out/man1" "$out/bash" "$out/zsh" "$out/fish"
mkdir -p "$out/man1" "$out/bash" "$out/zsh" "$out/fish"

# Through files and not pipes, whose status would be the last one's.
"$@" --help >"$out/help"
commands=$(awk 'tolower($0) ~ /^subcommands:/ { on = 1; next } on && /^  [a-z]/ { print $1 }' "$out/help")
[ -n "$commands" ] || { echo "manual: the help of causeway names no command" >&2; exit 1; }
{
  echo '@ '
  cat "$out/help"
  for command in $commands; do
    echo "@ $command"
    "$@" "$command" --help
  done
} >"$out/helps"
awk -f "$here/options.awk" "$out/helps" >"$out/options"
awk -f "$here/keys.awk" "$readme" >"$out/keys"

page() {
  awk -v command="$1" -v version="$version" -v more="$here/sections.roff" -f "$here/page.awk" "$out/options" \
    >"$out/man1/causeway${1:+-$1}.1"
}
page ''
for command in $commands; do page "$command"; done
# Shells know the figures, which are too many for the pages.
"$@" bench --list --json >"$out/figures"
awk 'BEGIN { FS = OFS = "\t" }
  FNR == NR { if (match($0, /"name": *"[^"]*"/)) { split(substr($0, RSTART, RLENGTH), parts, "\""); figures = figures "|" parts[4] } next }
  $1 == "bench" && $3 == "--only" { $7 = substr(figures, 2) }
  1' RS='{' "$out/figures" RS='\n' "$out/options" >"$out/with_figures"
mv "$out/with_figures" "$out/options"
awk -f "$here/bash.awk" "$out/options" "$out/keys" "$here/template.bash" >"$out/bash/causeway"
awk -f "$here/zsh.awk" "$out/options" "$out/keys" >"$out/zsh/_causeway"
awk -f "$here/fish.awk" "$out/options" "$out/keys" >"$out/fish/causeway.fish"
rm "$out/figures" "$out/help" "$out/helps"
