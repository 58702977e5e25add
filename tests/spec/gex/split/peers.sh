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
# Ranks that differ in an option: which one, with the keys that it lies under.
! run 2 -- sh -c "$one" sh CAUSEWAY_SET=conduits.shm.options.memory=posix "$program" ||
  fail "ranks with different options started"
says "'conduits: shm: options: memory: posix' there, 'conduits: shm: plugin: shm' here"

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

# A line per class and not per rank: to itself, to the two whose rule names them, to the other two.
run 5 --config "$work/other.yaml" --set log.level=info --set conduits.second.plugin=shm --set \
  'peers=[{name: self, match: {locality: self}, use: [self]}, {name: apart, match: {ranks: "1,3"}, use: [second]}, {name: rest, use: [shm]}]' \
  -- "$program" || fail "three classes"
says "rank 0/5: rank 0 (self): self, by rule self"
says "rank 0/5: 2 ranks, the first of them 1 (nbrhd): second, by rule apart"
says "rank 0/5: 2 ranks, the first of them 2 (nbrhd): shm, by rule rest"
[ "$(grep -c 'rank 0/5: .*, by rule ' "$work/err")" = 3 ] || fail "not three lines of rank 0"

# Hosts are told apart by the number of the boot: a rank that finds another one there is on another.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  echo 01234567-89ab-cdef-0123-456789abcdef >"$work/boot_id"
  # The launcher says that there is one host, for which no network would be opened.
  run 3 --set log.level=info --set 'conduits.net={plugin: ofi, open: always, options: {provider: tcp}}' --set \
    'peers=[{name: self, match: {locality: self}, use: [self]}, {name: near, match: {locality: nbrhd}, use: [shm]}, {name: far, match: {locality: remote}, use: [net]}]' \
    -- sh -c '[ "$PMIX_RANK" != 2 ] || exec unshare -m sh -c "mount --bind $1 /proc/sys/kernel/random/boot_id && exec $2"
      exec "$2"' sh "$work/boot_id" "$program" || fail "two boots"
  says "rank 0/3: rank 1 (nbrhd): shm, by rule near"
  says "rank 0/3: rank 2 (remote): net, by rule far"
  says "rank 2/3: 2 ranks, the first of them 0 (remote): net, by rule far"
fi
