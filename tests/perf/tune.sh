#!/bin/bash
# `causeway tune`: keeps to its budget, goes on after it was killed, writes a file that check-config
# accepts and that runs obey, as the counters show. Its choices are not slower than the default by
# more than noise, and `--compare` notices choices that are.
# Usage: tune.sh CAUSEWAY COUNTED
# Would catch: a table that is no configuration, rules that never match, an interrupted run that
# begins anew or leaves half a table, a job or a file left behind, a table that makes programs slower.
set -euo pipefail
causeway=$1 counted=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
fail() {
  echo "tune: $1" >&2
  tail -n 30 ./*.yaml ./*.part out err >&2 2>/dev/null || true
  exit 1
}
few=(-n 2 --operations reduce_all --sizes 8,32768)

# Mistakes that are told at once.
said() {
  status=0
  timeout 20 "$causeway" tune "${@:3}" >out 2>err || status=$?
  [ "$status" = "$1" ] && grep -q "$2" err || fail "${*:3}: status $status"
}
mkfifo pipe
said 1 '^causeway tune: pipe cannot be read: not a regular file' --compare pipe -n 2
said 1 '^causeway tune: cannot write /nope/x.part: No such file or directory' -o /nope/x -n 2
said 2 "'9' is no multiple of 8" --sizes 9 -o never.yaml

# Killed in the midst of it, by the signal that lets nobody tidy up: no table, but what it knows.
"$causeway" tune "${few[@]}" --budget 200 -o tuned.yaml >out 2>err &
tuner=$!
for _ in $(seq 600); do
  known=$(grep -c "^reduce_all" tuned.yaml.part 2>/dev/null || true)
  [ "${known:-0}" -ge 3 ] && break
  sleep 0.1
done
kill -KILL "$tuner"
wait "$tuner" 2>/dev/null || true
[ ! -e tuned.yaml ] || fail "a table was written before the end"
[ "$(grep -c '^reduce_all' tuned.yaml.part)" -ge 3 ] || fail "nothing was kept of the interrupted run"
# Goes on: what was known is still there, in front, at the end of a run without any time.
grep '^reduce_all' tuned.yaml.part | head -2 >known
cp tuned.yaml.part before
"$causeway" tune "${few[@]}" --budget 0.001 -o tuned.yaml >out 2>err || fail "the second run failed"
grep -q 'goes on where it was interrupted' err || fail "it does not say that it goes on"
grep -q 'launches made within' err || fail "the budget was not kept"
[ ! -e tuned.yaml.part ] || fail "the state was left behind"
while read -r _ bytes _ algorithm _; do
  grep -Eq "reduce_all of $bytes bytes:.*$algorithm" tuned.yaml || fail "$algorithm was forgotten"
done <known
"$causeway" check-config tuned.yaml >out 2>err || fail "check-config rejects the table"

# With noise 0 the fastest stands, whatever it is; what the file names is what runs.
"$causeway" tune -n 2 --operations broadcast,reduce_all --sizes 8,32768 --budget 120 --noise 0 \
  -o full.yaml >out 2>err || fail "the whole run failed"
"$causeway" check-config full.yaml >out 2>err || fail "check-config rejects the whole table"
grep -q 'locality: nbrhd\|rules: \[\]' full.yaml || fail "the rules do not say for which jobs"
grep -q 'base/ring' full.yaml || fail "not every algorithm was measured"
"$causeway" run -n 2 --timeout 60 --config full.yaml -- "$counted" >out 2>err || fail "a run with it"
# The program sums 8 bytes and 32 KiB once each.
for bytes in 8 32768; do
  chosen=$(awk -v bytes=$bytes '
    $1 == "#" && $2 == "reduce_all" { mine = $4 == bytes; if (mine) wait = 1 }
    /name: tuned-reduce_all/ && wait { match($0, /use: \[[^]]*/);
      print substr($0, RSTART + 6, RLENGTH - 6); exit }
    /name: / { wait = 0 }' full.yaml)
  [ -z "$chosen" ] || grep -q "reduce_all $chosen" out || fail "$chosen was to sum $bytes bytes"
done

# That table beside the default, both launched in turns: where it chooses another algorithm, that one
# is not slower, by more than what a busy machine does to medians. Where it does not, both run the same.
compare=(-n 2 --operations broadcast,reduce_all --sizes 8,32768 --budget 8 --noise 0.6)
"$causeway" tune "${compare[@]}" --compare full.yaml >out 2>err || fail "the table is slower than the default"
grep -Eq '^reduce_all +32768 ' out || fail "not every row was compared"
# And a table that chooses badly is found out, by the row that shows it.
cat >bad.yaml <<'EOF'
collectives:
  rules:
    - {operation: reduce_all, from: 4KiB, use: [base/trees]}
EOF
bad=(-n 2 --operations reduce_all --sizes 8,32768 --budget 8 --noise 0.6)
if "$causeway" tune "${bad[@]}" --compare bad.yaml >out 2>err; then fail "a bad table is not noticed"; fi
grep -Eq '^reduce_all +32768 .*base/trees .*SLOWER' out || fail "the bad row is not named"
grep -Eq '^reduce_all +8 .*the same' out || fail "a row that the table leaves alone is judged"
