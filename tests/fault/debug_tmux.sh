#!/bin/sh
# gdb for every rank in a pane of tmux. Usage: debug_tmux.sh CAUSEWAY PROGRAM
# Catches: a rank that is past its start before gdb has it, a rank without a pane, a pane that stays when the job
# has ended, a status that is lost, and a first pane without tmux around.
set -u
causeway=$1 program=$2
for tool in gdb tmux script; do
  command -v $tool >/dev/null || { echo "debug_tmux: skipped, there is no $tool"; exit 77; }
done
work=$(mktemp -d) || exit 1
export TMUX_TMPDIR=$work
unset TMUX
on() { tmux -S "$work/socket" -f /dev/null "$@"; }
trap 'on kill-server 2>/dev/null; tmux -S "$work"/tmux-*/causeway-* kill-server 2>/dev/null; rm -rf "$work"' EXIT
fail() {
  echo "debug_tmux: $1" >&2
  for pane in $(on list-panes -a -F '#{pane_id}' 2>/dev/null); do on capture-pane -p -t "$pane" | grep . >&2; done
  cat "$work/out" >&2
  exit 1
}
# until_true SECONDS COMMAND...
until_true() (
  left=$(($1 * 10))
  shift
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    sleep 0.1
  done
)
at_start() { on capture-pane -p -t "$1" 2>/dev/null | grep -q "^(rank $2)"; }
ended() { grep -q '^status' "$work/out"; }

: >"$work/out"
on new-session -d -x 160 -y 60 "\"$causeway\" run -n 2 --debug=tmux -- sh -c 'exec \"\$1\"' sh \"$program\" \
  >$work/out 2>&1; echo status \$? >>$work/out; sleep 60"
if ! until_true 30 at_start %1 0 || ! until_true 30 at_start %2 1; then
  on capture-pane -p -t %1 | grep -q 'ptrace: ' && { echo "debug_tmux: skipped, no process may be traced here"; exit 77; }
  fail "the ranks are not at their start"
fi
grep -q 'rank' "$work/out" && fail "a rank has begun"
# The first program is the shell.
for pane in %1 %2; do
  on send-keys -t $pane 'tcatch exec' Enter 'continue' Enter 'tbreak main' Enter 'continue' Enter
done
for pane in %1 %2; do
  until_true 30 sh -c "tmux -S '$work/socket' capture-pane -p -t $pane | grep -q 'Temporary breakpoint 3, main'" ||
    fail "$pane does not come to the program"
done
for pane in %1 %2; do on send-keys -t $pane 'continue' Enter; done
until_true 60 ended || fail "the job does not end"
grep -q '^status 0$' "$work/out" || fail "the job has failed"
[ "$(grep -c '^rank . of 2' "$work/out")" = 2 ] || fail "a rank has not said what it says"
[ "$(on list-panes -a | wc -l)" = 1 ] || fail "a pane is left"
on kill-server
# A terminal without tmux gets one.
own() { tmux -S "$work"/tmux-*/causeway-* "$@" 2>/dev/null; }
# says PANE TEXT: does that pane of its own tmux show it?
says() { own capture-pane -p -t "$1" | grep -q "$2"; }
in_own_tmux() { TERM=xterm timeout 90 script -qec "$causeway run -n 1 --debug=tmux $program" /dev/null >/dev/null </dev/null; }
is_left() { ls "$work"/tmux-*/causeway-* >/dev/null 2>&1; }
is_gone() { ! is_left; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }
(sleep 1; until_true 30 says %1 '(rank 0)'
  own send-keys -t %1 'continue' Enter
  until_true 30 says %0 'status 0' && : >"$work/well"
  own send-keys -t %0 Enter) &
in_own_tmux
wait
[ -e "$work/well" ] || fail "no tmux of its own"
is_gone || fail "the socket of its own tmux is left"
# ^C ends the job, ranks that gdb holds too, and shows the status.
in_own_tmux &
until_true 30 says %1 '(rank 0)' || fail "no pane of a rank"
own send-keys -t %0 C-c
until_true 30 says %0 'status 130' || fail "^C ends no job"
[ "$(own list-panes | wc -l)" = 1 ] || fail "^C leaves a rank's pane"
own send-keys -t %0 Enter
wait
is_gone || fail "the socket of its own tmux is left behind ^C"
# What takes its terminal away, or ends it, ends the job.
for signal in TERM KILL; do
  in_own_tmux &
  until_true 30 says %1 '(rank 0)' || fail "no pane of a rank"
  set -- $(own list-clients -F '#{client_pid} #{pid}')
  kill -$signal "$1"
  wait
  until_true 30 has_ended "$2" || fail "tmux goes on after SIG$signal"
  until_true 30 is_gone || fail "its socket is left after SIG$signal"
done
