#!/bin/sh
# What the driver would run. Usage: plans.sh CAUSEWAY STORM_DRIVER
# Catches: an algorithm of a collective plugin that no seed forces, in any of the configurations; jobs
# for devices whose stand-ins were not built, which would fail in the library's place; a seed that a
# parallel run leaves out or deals twice.
set -eu
causeway=$1 driver=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "plans: $1" >&2
  exit 1
}

# Seventeen jobs of each of the sixteen configurations go round the longest list once.
"$driver" --plan --seeds 1..272 --configs all > "$work/plan"
"$causeway" explain --collectives |
  awk '/^algorithms a rule can name/ { on = 1; next } on && NF == 0 { exit } on { print $1, $2 }' \
    > "$work/algorithms"
[ "$(wc -l < "$work/algorithms")" -gt 30 ] || fail "causeway explain names too few algorithms"
configs=$(sed -n 's/.* --configs \([^ ]*\) .*/\1/p' "$work/plan" | sort -u)
[ -n "$configs" ] || fail "no configuration in the plan"
for config in $configs; do
  grep -e " --configs $config " "$work/plan" > "$work/of"
  while read -r operation name; do
    grep -qF "{operation: $operation, use: [$name]}" "$work/of" ||
      fail "no seed forces $name for $operation over $config"
  done < "$work/algorithms"
done

"$driver" --plan --seeds 1..20 --standins "$work/none" --ops coll,device > "$work/plan"
! grep -q -e 'SPEC_MK\|--ops coll,device' "$work/plan" || fail "devices without stand-ins"
grep -q 'family device is left out' "$work/plan" || fail "devices are left out in silence"

"$driver" --plan --seeds 1..60 --jobs 4 | sed -n 's/.* --seed \([0-9]*\) .*/\1/p' | sort -n > "$work/seeds"
[ "$(cat "$work/seeds")" = "$(seq 1 60)" ] || fail "four workers do not get each seed once"
