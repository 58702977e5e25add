#!/bin/sh
# The choice of collective algorithms by the configuration, seen in the counters of one program that
# is never rebuilt. Usage: choice.sh CAUSEWAY PROGRAM PLUGIN_DIR [TWO_NEIGHBORHOODS]
set -eu
causeway=$1 program=$2 plugins=$3 neighborhoods=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$work/site.yaml

fail() {
  echo "choice: $1" >&2
  sed 's/^/  | /' "$work/out" "$work/err" >&2
  exit 1
}
# run RANKS [flags]: what the program printed is in out and err.
run() {
  ranks=$1
  shift
  "$causeway" run -n "$ranks" --timeout 60 "$@" -- "$program" > "$work/out" 2> "$work/err"
}
ran() { grep -q "$1" "$work/out" || fail "'$1' did not run${2:+ ($2)}"; }
ran_not() { ! grep -q "$1" "$work/out" || fail "'$1' ran${2:+ ($2)}"; }
refused() { grep -q "$1" "$work/err" || fail "no message with '$1'"; }

# An edit of the file, and nothing else, makes the other algorithm run.
cat > "$file" << 'END'
collectives:
  rules:
    - {name: large, operation: reduce_all, from: 1KiB, type: dbl, use: [base/ring]}
    - {operation: reduce_all, use: [trees]}
    - {operation: broadcast, use: [base/chain]}
END
run 3 --config "$file" || fail "the first file"
ran "reduce_all base/ring 1" && ran "reduce_all base/trees 1" && ran "broadcast base/chain 2"
sed -e 's|base/ring|base/rabenseifner|; s|base/chain|scatter_allgather|' -i "$file"
run 3 --config "$file" || fail "the edited file"
ran "reduce_all base/rabenseifner 1" && ran "broadcast base/scatter_allgather 2"
ran_not "base/ring" "after the edit"
ran_not "base/chain" "after the edit"

# What explain says is what runs.
"$causeway" explain -n 3 --collectives --config "$file" > "$work/out" 2> "$work/err" ||
  fail "explain"
grep -Eq "reduce_all +from 1 KiB +base/rabenseifner +by rule large" "$work/out" ||
  fail "explain does not show the rule"

# A rule that does not fit the call leaves it to the next one; a wildcard takes what a plugin has.
cat > "$file" << 'END'
collectives:
  rules:
    - {operation: reduce_all, ranks_from: 100, use: [base/ring]}
    - {operation: reduce_all, locality: remote, use: [base/trees]}
    - {operation: reduce_all, type: i32, use: [base/trees]}
    - {operation: any, use: [hier/flat, doubling, base/*]}
END
run 2 --config "$file" || fail "the file with wildcards"
ran_not "base/ring"
ran_not "base/trees"
ran_not "hier/shared"
ran "reduce_all hier/flat 1" && ran "reduce_all base/doubling 1" && ran "broadcast base/"

# By memory: the program's is the host's. What holds for teams with device memory, explain shows.
cat > "$file" << 'END'
collectives:
  rules:
    - {name: far, operation: reduce_all, memory: device, use: [base/trees]}
    - {name: far-cuda, operation: broadcast, memory: cuda, use: [base/knomial]}
    - {name: near, operation: reduce_all, memory: host, use: [base/ring]}
END
run 2 --config "$file" || fail "the file with memory kinds"
ran "reduce_all base/ring 2" "memory: host"
ran_not "base/trees" "memory: device"
ran_not "base/knomial" "memory: cuda"
"$causeway" explain -n 2 --collectives --config "$file" > "$work/out" 2> "$work/err" ||
  fail "explain with memory kinds"
[ "$(grep -Ec 'base/ring +by rule near' "$work/out")" = 2 ] || fail "explain: host memory"
[ "$(grep -Ec 'base/trees +by rule far' "$work/out")" = 4 ] || fail "explain: device memory"
[ "$(grep -Ec 'base/knomial +by rule far-cuda' "$work/out")" = 2 ] || fail "explain: cuda memory"

# Without one of the plugins the other serves.
run 2 --set 'plugins.collectives=[base]' || fail "base alone"
ran_not "hier/"

# Names nobody has, and a requirement nobody meets, are errors that name the rule.
printf 'collectives: {rules: [{operation: broadcast, use: [base/chian]}]}\n' > "$file"
! run 2 --config "$file" || fail "an unknown algorithm was accepted"
refused "base/chian" && refused "did you mean 'base/chain'"
printf 'collectives: {rules: [{operation: broadcast, from: 1KiB, use: [hier/flat], require: true}]}\n' \
  > "$file"
! run 2 --config "$file" || fail "a requirement was not met and nobody said so"
refused "requires an algorithm that cannot serve"

# Ranks whose plugins would choose differently do not start.
! run 3 --set "plugins.path=[$plugins]" --set 'plugins.collectives=[base,moody]' ||
  fail "ranks that disagree started"
refused "would choose other collective algorithms"

# Between neighborhoods any algorithm that a rule names, and inside of them shared memory.
if [ -n "$neighborhoods" ]; then
  run 4 --config "$neighborhoods" \
    --set 'collectives.rules=[{operation: reduce_all, use: [hier/leaders_ring]}]' ||
    fail "two neighborhoods"
  ran "reduce_all hier/leaders_ring 2" && ran "broadcast hier/leaders_"
fi
