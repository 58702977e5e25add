#!/bin/bash
# A program that uses host memory only executes the same instructions for puts, gets, atomics and
# messages whether memory kinds of devices may be used or not, and loads none of their plugins.
# Usage: host_only.sh CAUSEWAY BENCH_PROGRAM [all]
# Without `all` only what would notice first: a poll, and a put through the library.
# Catches: polls and transfers that look at devices, and a plugin that is loaded before it is asked for.
set -euo pipefail
causeway=$1 program=$2 much=${3:-}
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "figure count" for each. Polls look at the peers' state now and then, by the clock, which moves their
# average by a fraction of an instruction; how many messages one poll takes depends on when they are there.
count() { # figures, flags
  "$causeway" bench --quick --json --only "$@" |
    sed -n 's/.*"name": "\(instr[a-z0-9.]*\)", "ours": \([0-9.]*\).*/\1 \2/p'
}
compare() { # figures, direct_map
  count "$1" --set "direct_map=$2" --set 'plugins.memkinds=[host, cuda, hip, ze]' >"$work/with"
  count "$1" --set "direct_map=$2" --set 'plugins.memkinds=[host]' >"$work/without"
  [ "$(wc -l <"$work/with")" = "$(echo "$1" | tr ',' '\n' | wc -l)" ] ||
    { echo "not every figure was counted"; exit 1; }
  paste -d ' ' "$work/with" "$work/without" | awk -v path="$2" '
    { printf "direct_map %-5s %-16s %9s where kinds may be used, %9s where they may not\n", path, $1, $2, $4
      most = $1 == "instr.am.handle" ? 6 : 1
      if ($2 <= 0 || $2 - $4 >= most || $4 - $2 >= most) bad = 1 }
    END { exit bad }' || { echo "the counts differ"; exit 1; }
}
if [ "$much" = all ]; then
  compare instr.put8,instr.get8,instr.fadd8,instr.am.send,instr.am.poll,instr.am.handle auto
  compare instr.put8,instr.get8,instr.fadd8 never
else
  compare instr.am.poll auto
  compare instr.put8 never
fi

loaded=$(LD_DEBUG=files "$causeway" run -n 1 -- "$program" --launch startup 2>&1 |
  grep -o 'memkind_[a-z]*\.so' | grep -v memkind_host | sort -u || true)
[ -z "$loaded" ] || { echo "loaded without being asked for: $loaded"; exit 1; }
