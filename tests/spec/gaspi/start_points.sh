#!/bin/sh
# A rank dies in the start of a job that outlives failures, at each moment that slow_start.cpp knows,
# and right behind its own start, while others still connect to it.
# Usage: start_points.sh CAUSEWAY PROGRAM PRELOADED
# Catches: a death that nobody hears of, or a replacement that starts while the others cannot
# complete theirs: a start or an end that takes as long as timeouts.start, or has no end; a start that
# fails for want of a rank whose spare takes over; a spare that fails in its own start, of which nobody
# hears.
set -eu
causeway=$1 program=$2 preloaded=$3
limit=60 # seconds; timeouts.start is longer

# run MOMENT OPTIONS: status and output of the job.
run() {
  moment=$1
  shift
  began=$(date +%s)
  status=0
  out=$(SLOW_START=$moment LD_PRELOAD=$preloaded "$causeway" run -n 3 --timeout $limit \
    --set timeouts.start=120s "$@" -- "$program" starting 2>&1) || status=$?
  what="$moment $*: status $status after $(($(date +%s) - began)) s"
}
fail() {
  printf '%s: %s\n%s\n' "$what" "$1" "$out"
  exit 1
}
for keep in --on-failure=continue "--spares 1"; do
  # shellcheck disable=SC2086 # options are words
  for moment in connected listening started; do
    run $moment $keep
    [ $status = 137 ] || fail "not the victim's status"
    case $out in
      *"rank 1"*"before all ranks had started"*) ;;
      *) fail "the job did not end because of it" ;;
    esac
    echo "$what: ended"
  done
  # shellcheck disable=SC2086
  run all-started $keep
  # A spare makes the failure good.
  case $keep in
    *spares*) [ $status = 0 ] || fail "not the status of a job that has recovered" ;;
    *) [ $status = 137 ] || fail "not the victim's status" ;;
  esac
  case $out in
    *"starting: well"*) ;;
    *) fail "the others did not go on" ;;
  esac
  echo "$what: gone on"
done
# A rank that dies before anybody has connected: one line. Where nobody connects for 2 s, the ranks may be of a program
# without the library, and the launcher says first that they go on.
for keep in --on-failure=continue "--spares 1"; do
  what="dead at once, $keep" began=$(date +%s%N)
  # shellcheck disable=SC2016,SC2086
  out=$("$causeway" run -n 4 $keep --timeout $limit -- \
    sh -c '[ "$PMIX_RANK" = 1 ] && kill -9 $$; exec "$@"' sh "$program" first 2>&1) && fail "not a failure"
  case $out in
    *"rank 1"*"before all ranks had started"*) ;;
    *) fail "the job did not end because of it" ;;
  esac
  [ $(($(date +%s%N) - began)) -ge 2000000000 ] && continue
  case $out in
    *"go on"* | *"is rank 1"*) fail "the launcher said that the job goes on" ;;
  esac
  echo "$what: ended"
done
# Where the others need longer than the launcher waits for their word, the job ends because of it.
well=0
for launch in 1 2 3 4 5 6; do
  what="first, launch $launch"
  out=$("$causeway" run -n 9 --spares 1 --timeout $limit -- "$program" first 2>&1) || true
  case $out in
    *"is not reached"*) fail "a rank's start failed for want of another one" ;;
    *"first: well"*) well=$((well + 1)) ;;
    *"before all ranks had started"*) ;;
    *) fail "the others did not go on" ;;
  esac
done
[ $well -gt 0 ] || fail "the others never went on"
what="a spare with another configuration"
# shellcheck disable=SC2016 # for the spare's shell
out=$(SLOW_START=all-started LD_PRELOAD=$preloaded "$causeway" run -n 3 --spares 1 \
  --timeout $limit -- sh -c '[ "$PMIX_RANK" = 3 ] && export CAUSEWAY_SET=direct_map=never; exec "$@"' \
  sh "$program" starting 2>&1) || true
case $out in
  *"starting: well"*) ;;
  *) fail "the others did not go on" ;;
esac
case $out in
  *"rank 1 (pid "*", epoch 2) exited with status "*) ;;
  *) fail "nobody heard that the replacement failed" ;;
esac
