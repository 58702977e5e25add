#!/bin/sh
# What ranks learn of each other when they are wired up: other configurations, conduits that a rank
# has not got, conduits that nobody needs. Usage: peers.sh CAUSEWAY PROGRAM
set -eu
causeway=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "peers: $1" >&2
  sed 's/^/  | /' "$work/out" "$work/err" >&2
  exit 1
}
# run RANKS FLAGS... -- COMMAND
run() {
  ranks=$1
  shift
  "$causeway" run -n "$ranks" --timeout 60 "$@" > "$work/out" 2> "$work/err"
}
says() { grep -q "$1" "$work/err" || fail "no line with '$1'"; }
says_not() { ! grep -q "$1" "$work/err" || fail "a line with '$1'"; }
# one RANK SETTING: the command, with a setting or variable of that rank's own.
one='if [ "$PMIX_RANK" = 1 ]; then export "$1"; fi; shift; exec "$@"'

cat > "$work/site.yaml" << 'END'
conduits:
  net: {plugin: ofi, options: {provider: tcp, wait: always}}
peers:
  - {name: self, match: {locality: self}, use: [self]}
  - {name: inside, match: {locality: host}, use: [net, shm], on_fallback: warn}
plugins: {on_load_error: ignore}
report: true
END
cat > "$work/other.yaml" << 'END'
peers:
  - {name: self, match: {locality: self}, use: [self]}
  - {name: elsewise, match: {locality: host}, use: [shm]}
plugins: {on_load_error: ignore}
report: true
END

# Two files: refused, with both ranks, where the files part, and what each would do.
! run 2 --config "$work/site.yaml" -- sh -c "$one" sh "CAUSEWAY_CONFIG=$work/other.yaml" "$program" ||
  fail "ranks with different files started"
says "rank 1 runs with another configuration than rank 0"
says "rank 0 would reach rank 1 by rule inside (use: net, shm), and rank 1 rank 0 by rule elsewise"

# A rank that cannot open the first conduit: both ranks take the second, and say why.
run 2 --config "$work/site.yaml" --set log.level=info -- \
  sh -c "$one" sh FI_PROVIDER=nobody "$program" || fail "no common conduit was found"
says "rank 0/2: rank 1 (nbrhd): shm, by rule inside"
says "rank 1/2: rank 0 (nbrhd): shm, by rule inside"
says "rank 0/2: warning: rank 1: inside takes shm because net was refused: rank 1 has not opened it"
says "conduit net serves nobody in this job and is not polled"

# A conduit in no rule is not opened, unless that is asked for.
run 2 --config "$work/other.yaml" --set 'conduits.net={plugin: ofi}' -- "$program" || fail "a spare conduit"
says_not "0/2: net:"
run 2 --config "$work/other.yaml" --set 'conduits.net={plugin: ofi, open: always}' -- "$program" ||
  fail "an open conduit"
says "0/2: net: "

# Rules that send the two directions different ways work, and are told.
run 2 --config "$work/site.yaml" --set log.level=info --set \
  'peers=[{name: self, match: {locality: self}, use: [self]}, {name: low, match: {ranks: 0}, use: [shm]}, {use: [net]}]' \
  -- "$program" || fail "two ways"
says "rank 0 reaches rank 1 by net, but rank 1 reaches rank 0 by shm"
