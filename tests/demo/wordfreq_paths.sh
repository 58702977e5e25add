#!/bin/bash
# The same binary takes another path because a file says so, and says which one it took.
# Would catch: a configuration that changes nothing, or a report that does not follow it.
# usage: wordfreq_paths.sh CAUSEWAY WORDFREQ FILE AM_ONLY_CONFIG
set -euo pipefail
causeway=$1 wordfreq=$2 file=$3 am_only=$4

report() { timeout 60 "$causeway" run -n 4 "$@" -- "$wordfreq" "$file" 2>/dev/null | grep '^# rank 0'; }
direct=$(report)
messages=$(report --config "$am_only")
echo "default:"
echo "$direct"
echo "am-only:"
echo "$messages"
# By default rank 0 fetches results with loads of its own; over messages each get is a reply.
grep -q '^# rank 0: direct:' <<< "$direct"
! grep -q 'reply_medium_received\|reply_long_received' <<< "$direct"
! grep -q '^# rank 0: direct:' <<< "$messages"
grep -q 'reply_medium_received\|reply_long_received' <<< "$messages"
