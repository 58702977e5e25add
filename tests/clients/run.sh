#!/bin/sh
# Runs one built client over one network, with 1, 2 and 4 ranks. A client that has more to show says
# so in its file `runs`, one run a line: the status expected, the ranks, arguments.
# Usage: run.sh SOURCE TREE PROGRAM shm|SITE_FILE_NAME
# Catches: what clients check of their results; a rank that ends before it says so; a status that
# is not the program's; a job that does not end.
set -eu
source=$1 tree=$2 program=$3 network=$4
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
out=$program.$network.out
config=
[ "$network" = shm ] || config="--config $tree/share/causeway/configs/sites/$network.yaml"

fail() { tail -n 40 "$out" "$out.err"; echo "clients: $(basename "$program") over $network: $*"; exit 1; }
runs=$([ -e "$source/runs" ] && cat "$source/runs" || printf '0 1\n0 2\n0 4\n')
# The shell reads the runs from another descriptor than the programs read from.
while read -r expected ranks arguments <&3; do
  status=0
  # shellcheck disable=SC2086 # words
  timeout 60 "$tree/bin/causeway" run -n "$ranks" --timeout 50 $config -- "$program" $arguments \
    >"$out" 2>"$out.err" || status=$?
  [ "$status" = "$expected" ] || fail "$ranks ranks '$arguments' end with $status, not $expected"
  [ "$expected" != 0 ] || [ "$(grep -c "^rank [0-9]* of $ranks: ok$" "$out")" = "$ranks" ] ||
    fail "not all of $ranks ranks say that they are done"
done 3<<END
$runs
END
