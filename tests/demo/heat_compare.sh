#!/bin/bash
# The heat demo loses a rank and prints the same answer as the undisturbed run, with a spare and
# with survivors alone. Would catch: a checkpoint of two different iterations, rows that nobody or
# two workers have, a group or segment that still is the dead process's, and survivors that hang.
# usage: heat_compare.sh CAUSEWAY HEAT [RUN OPTIONS...]; the seed is HEAT_SEED, else 7.
set -euo pipefail
causeway=$1 heat=$2
shift 2
seed=${HEAT_SEED:-7}
echo "heat: seed $seed"
plan=(--size 64 --iterations 300 --every 20)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# answer NAME OUTPUT: the answer's line, which is there exactly once.
answer() {
  local line
  line=$(grep "^64 x 64 points" <<<"$2") || {
    echo "$1: no answer:"
    echo "$2"
    exit 1
  }
  [[ $(wc -l <<<"$line") == 1 ]] || {
    echo "$1: several answers: $line"
    exit 1
  }
  echo "$line"
}
same() {
  local line
  line=$(answer "$1" "$2") || { echo "$line"; exit 1; }
  [[ $line == "$expected" ]] && return
  printf '%s answers\n  %s\ninstead of\n  %s\n%s\n' "$1" "$line" "$expected" "$2"
  exit 1
}
has() {
  grep -q -- "$2" <<<"$3" && return
  printf '%s: the output has no "%s":\n%s\n' "$1" "$2" "$3"
  exit 1
}

expected=$(answer undisturbed "$(timeout 100 "$causeway" run -n 3 "$@" -- "$heat" "${plan[@]}")")
alone=$(timeout 100 "$causeway" run -n 1 "$@" -- "$heat" "${plan[@]}")
same "one rank" "$alone"

for which in "$seed" $((seed + 1)); do
  out=$(timeout 100 "$causeway" run -n 3 --timeout 90 --spares 1 "$@" -- "$heat" "${plan[@]}" \
    --seed "$which" 2>&1) || true
  has "spare, seed $which" "was killed by signal 9" "$out"
  has "spare, seed $which" "# 3 workers go on" "$out"
  same "spare, seed $which" "$out"
  out=$(timeout 100 "$causeway" run -n 3 --timeout 90 --on-failure=continue "$@" -- "$heat" \
    "${plan[@]}" --shrink --seed "$which" 2>&1) || true
  has "survivors, seed $which" "was killed by signal 9" "$out"
  has "survivors, seed $which" "# 2 workers go on" "$out"
  same "survivors, seed $which" "$out"
done

# killed_from_outside NAME EXPECTED RUN-OPTION PROGRAM-OPTION...: wherever rank 1 is then.
killed_from_outside() {
  local name=$1 outcome=$2 option=$3 job i
  shift 3
  rm -f "$work"/*
  # shellcheck disable=SC2086 # the option is words
  timeout 100 "$causeway" run -n 3 --timeout 90 $option "${flags[@]}" -- bash -c \
    'echo "$$" >"$1/pid.$PMIX_RANK"; shift; exec "$@"' - "$work" "$heat" "${plan[@]}" --pause 3000 \
    "$@" >"$work/out" 2>&1 &
  job=$!
  # Not before the work has begun: a process that dies before all have met is a failed start.
  for ((i = 0; i < 600; ++i)); do
    grep -qs "# 3 workers begin" "$work/out" && break
    sleep 0.1
  done
  sleep 0.3
  kill -KILL "$(<"$work/pid.1")"
  wait "$job" || true
  has "$name" "was killed by signal 9" "$(<"$work/out")"
  has "$name" "$outcome" "$(<"$work/out")"
  same "$name" "$(<"$work/out")"
}
flags=("$@")
killed_from_outside "killed from outside, spare" "spare 0 is rank 1" "--spares 1"
killed_from_outside "killed from outside, survivors" "# 2 workers" --on-failure=continue \
  --shrink
echo "heat: $expected"
