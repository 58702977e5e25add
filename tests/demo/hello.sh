#!/bin/bash
# Would catch: a put to the wrong rank, a barrier that lets a rank read too early, output lost
# at the end of the job. usage: hello.sh CAUSEWAY HELLO N [RUN OPTIONS...]
set -euo pipefail
causeway=$1 hello=$2 ranks=$3
shift 3
expected=$(for ((r = 0; r < ranks; r++)); do
  echo "rank $r of $ranks: the rank before me is $(((r + ranks - 1) % ranks))"
done)
output=$(timeout 60 "$causeway" run -n "$ranks" "$@" -- "$hello" | sort)
[[ $output == "$expected" ]] || {
  echo "$output"
  exit 1
}
