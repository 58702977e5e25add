#!/bin/bash
# Runs `causeway bench --quick --json ARGS...` and has its output checked.
# Would catch: a figure that is no longer measured, or that hangs; a run in a configuration that
# breaks the bench; JSON that cannot be read.
# usage: bench_smoke.sh CAUSEWAY CHECKER ARGS...
set -euo pipefail
causeway=$1 checker=$2
shift 2
timeout 280 "$causeway" bench --quick --json "$@" | "$checker"
