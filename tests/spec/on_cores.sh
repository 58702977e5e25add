#!/bin/sh
# Runs a command on the first N processors that this process may use (fewer, if there are fewer).
# Usage: on_cores.sh N COMMAND...
set -eu
most=$1
shift
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
cores=$(echo "$allowed" | tr , '\n' |
  awk -F- '{ for (i = $1; i <= (NF > 1 ? $2 : $1); ++i) print i }' | head -n "$most" | paste -sd,)
exec taskset -c "$cores" "$@"
