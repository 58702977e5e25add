#!/bin/bash
# Bad arguments to wordfreq end in one message and the right status, never in a hang.
# Would catch: N copies of a message, a rank left waiting, an end with status 0.
# usage: wordfreq_errors.sh CAUSEWAY WORDFREQ
set -uo pipefail
causeway=$1 wordfreq=$2
failures=0

# expect STATUS LINES TEXT ARGS...: LINES lines of wordfreq's own on standard error, one with TEXT
expect() {
  local status=$1 lines=$2 text=$3 got output own
  shift 3
  output=$(timeout 60 "$causeway" run -n 3 -- "$wordfreq" "$@" 2>&1)
  got=$?
  own=$(grep -c '^wordfreq:\|^usage: wordfreq' <<< "$output")
  if [[ $got != "$status" || $own != "$lines" || $output != *"$text"* ]]; then
    echo "wordfreq $*: status $got (expected $status), $own messages (expected $lines):"
    echo "$output"
    failures=$((failures + 1))
  fi
}

expect 1 1 "wordfreq: /no/such/file: No such file or directory" /no/such/file
expect 1 1 "wordfreq: /: not a regular file" /
expect 2 1 "usage: wordfreq FILE"
expect 2 1 "usage: wordfreq FILE" a b
expect 2 1 "usage: wordfreq FILE" "$0" --top
expect 2 1 "usage: wordfreq FILE" "$0" --top -3
expect 2 1 "usage: wordfreq FILE" "$0" --top 3x
exit $((failures > 0))
