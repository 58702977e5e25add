#!/bin/bash
# Long work says on a terminal how far it is, and writes nothing of that into files.
# Usage: progress.sh CAUSEWAY PLUGIN
# Would catch: a command that is silent at a terminal for minutes; lines that are written over in a log, or that a
# pipeline takes for results.
set -euo pipefail
causeway=$1 plugin=$2
command -v script >&2 || { echo "SKIPPED: script is not installed (Debian: bsdutils)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
fail() {
  echo "progress: $1" >&2
  tail -c 2000 screen out err >&2 2>/dev/null || true
  exit 1
}

# tells WHAT COMMAND...: WHAT is said at a terminal, and not where both streams are files.
tells() {
  local what=$1
  shift
  timeout 200 script -qec "$(printf '%q ' "$@")" /dev/null >screen </dev/null || fail "$*: status $? at a terminal"
  grep -qE "$what" screen || fail "$*: no progress at a terminal"
  timeout 200 "$@" >out 2>err </dev/null || fail "$*: status $? into files"
  ! grep -qE "$what" out err || fail "$*: progress in a file"
  ! grep -q "$(printf '\r')" out err || fail "$*: lines that are written over, in a file"
}
tells '\[2/[0-9]+\] [A-Z]' "$causeway" check-plugin "$plugin"
tells '\] 1/[0-9]+ ' "$causeway" tune -n 2 --operations reduce_all --sizes 8 --budget 3 -o tuned.yaml
tells 'causeway bench: puts, gets' "$causeway" bench --only put8.same --quick
