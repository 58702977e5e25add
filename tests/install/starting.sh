#!/bin/sh
# Starts programs in the ways that are documented for GASNet, with this launcher behind each.
# Usage: starting.sh TREE WORK_DIR CC
# Catches: `prog N arguments` of udp that runs one rank, or leaves the number to the client; a number
# that is taken out where a launcher gave none; GASNET_SPAWNFN that is not obeyed there; a list of
# hosts or of variables that does not reach the ranks; a command of the user's that starts itself
# without end; a launcher that is looked for elsewhere than beside the library; options that are lost
# on the way to mpirun or srun.
set -eu
tree=$1 work=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/path"
for name in $(env | sed -n 's/^\([A-Z_]*\)=.*/\1/p' | grep -E '^(CAUSEWAY|GASNET|AMUDP)_|^(SSH_SERVERS|SIGN|THREAD|DIRECTORY)$'); do
  unset "$name"
done
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
fail() { cat "$work/out" "$work/err" 2>/dev/null || true; echo "starting: $*"; exit 1; }
run() { timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null; }
# ranks N TEXT: each of N ranks has said what it should, and nobody anything else.
ranks() {
  [ "$(wc -l <"$work/out")" = "$1" ] || fail "not $1 ranks"
  rank=0
  while [ "$rank" -lt "$1" ]; do
    grep -qxF "rank $rank of $1, $2" "$work/out" || fail "rank $rank of $1 did not say '$2'"
    rank=$((rank + 1))
  done
}
for name in udp-seq smp-seq ofi-par; do
  # shellcheck disable=SC2046 # flags are words
  "$cc" -std=c99 -D_DEFAULT_SOURCE -pthread "$here/started.c" -o "$work/$name" $(pkg-config --cflags --libs "gasnet-$name") ||
    fail "$name does not build"
done
udp=$work/udp-seq

# ---- prog N arguments: udp has it, and no other ----
run "$udp" 3 a 'b c' || fail "prog 3 fails"
ranks 3 '2 arguments: a b c, sign none'
run env GASNET_SPAWNFN=L SIGN=x "$udp" 2 5 || fail "GASNET_SPAWNFN=L fails"
ranks 2 '1 arguments: 5, sign x'
code=0
run env GASNET_SPAWNFN=L "$udp" 2 exit 7 || code=$?
[ "$code" = 7 ] || fail "prog 2 exit 7 answers $code"
run "$udp" a 3 || fail "an argument that is no number fails"
ranks 1 '2 arguments: a 3, sign none'
run "$udp" || fail "no arguments fail"
ranks 1 '0 arguments:, sign none'
for name in smp-seq ofi-par; do
  run "$work/$name" 3 a || fail "$name 3 a fails"
  ranks 1 '2 arguments: 3 a, sign none'
done
for number in 0 5000 99999999999999; do
  run "$udp" $number && fail "$number ranks are started"
  grep -q "the first argument is '$number'.*expected 1 to 4096" "$work/err" || fail "$number: no word of it"
done
# A program that has threads before it starts cannot fork its ranks, and needs not.
run env THREAD=1 "$udp" 2 a || fail "a program with threads fails"
ranks 2 '1 arguments: a, sign none'
# GASNet-1 has the same arguments.
# shellcheck disable=SC2046
"$cc" -std=c99 "$here/identity.c" -o "$work/first" $(pkg-config --cflags --libs gasnet-udp-seq) || fail "identity.c does not build"
code=0
run "$work/first" 2 exit 5 || code=$?
[ "$code" = 5 ] && [ "$(grep -c ' of 2: UDP ok$' "$work/out")" = 2 ] || fail "gasnet_init does not start ranks"
# With a launcher, or with our own variable, the arguments are the client's.
run "$tree/bin/amudprun" -np 2 "$udp" 3 a || fail "amudprun fails"
ranks 2 '2 arguments: 3 a, sign none'
run env CAUSEWAY_RANKS=2 "$udp" 3 a || fail "CAUSEWAY_RANKS=2 fails"
ranks 2 '2 arguments: 3 a, sign none'

# The command that becomes the launcher is found from where the library lies, not from where the program
# is; a program that has left the directory which a relative LD_LIBRARY_PATH counts from finds it, too.
(cd "$tree" && run env LD_LIBRARY_PATH=lib DIRECTORY=/ "$udp" 2 a) || fail "a relative LD_LIBRARY_PATH fails"
ranks 2 '1 arguments: a, sign none'
(cd "$work" && run env CAUSEWAY_RANKS=2 ./smp-seq a) || fail "a relative path to the program fails"
ranks 2 '1 arguments: a, sign none'
cp -R "$tree/lib" "$work/lib"
run env LD_LIBRARY_PATH="$work/lib" CAUSEWAY_RANKS=2 "$work/smp-seq" a && fail "ranks are started without the command"
grep -q "the command .causeway. at '$work/bin/causeway', beside its library: No such file.*use .causeway run -n 2." "$work/err" ||
  fail "a missing command: no word of where it was expected"

# ---- through amudprun, where ranks are elsewhere; an agent plays the other hosts ----
printf '%s\n' '#!/bin/sh' 'case $1 in alpha | beta) shift ;; *) exit 255 ;; esac' 'unset SIGN' 'exec "$@"' >"$work/agent"
chmod +x "$work/agent"
network=
for conduit in ofi ucx; do
  [ -n "$network" ] || [ ! -e "$tree/lib/causeway/2/conduit_$conduit.so" ] || network=$conduit
done
if [ -n "$network" ]; then
  export GASNET_SSH_CMD="$work/agent"
  for spawner in S s; do
    run env GASNET_SPAWNFN=$spawner GASNET_SSH_SERVERS='alpha;beta' SIGN=x "$udp" 2 a 'b c' || fail "GASNET_SPAWNFN=$spawner fails"
    ranks 2 '2 arguments: a b c, sign x'
  done
  run env AMUDP_SSH_SERVERS='alpha beta' "$udp" 2 a || fail "AMUDP_SSH_SERVERS fails"
  ranks 2 '1 arguments: a, sign none'
  # A variable that belongs to its host goes along where it is asked for, whatever is in it.
  run env GASNET_SSH_SERVERS=alpha,beta TMPDIR="$work/a 'b" "$tree/bin/gasnetrun_ofi" -n 2 -N 2 -v -v -E NONE,TMPDIR \
    sh -c 'echo "<$TMPDIR>"' || fail "-E TMPDIR fails"
  [ "$(grep -cxF "<$work/a 'b>" "$work/out")" = 2 ] || fail "-E TMPDIR does not reach the ranks"
  run env GASNET_SSH_SERVERS=alpha "$tree/bin/gasnetrun_ofi" -n 2 -E 'a;b' true && fail "-E 'a;b' is accepted"
  grep -q "^gasnetrun_ofi: -E: 'a;b' is not the name of a variable" "$work/err" || fail "-E 'a;b' is not named"
  run env GASNET_SSH_SERVERS=alpha GASNET_ENV_CMD=/other/env A='1 2' "$tree/bin/gasnetrun_ofi" -t -n 2 -E A prog || fail "-t fails"
  grep -q -e '-- /other/env A=1 2 prog$' "$work/err" || fail "GASNET_ENV_CMD is ignored"
  unset GASNET_SSH_CMD
fi

# ---- a command of the user's ----
run env GASNET_SPAWNFN=C GASNET_CSPAWN_CMD="'$tree/bin/causeway' run -n %N -- env SIGN=%%%D,%P,'%M',%x %C" \
  GASNET_CSPAWN_SERVERS='a b c' "$udp" 2 a 'b c' || fail "GASNET_CSPAWN_CMD fails"
ranks 2 "2 arguments: a b c, sign %$(pwd),$udp,a b,%x"
# A command without PMIx starts each rank alone, whose first argument here is a number again.
run env GASNET_SPAWNFN=C GASNET_CSPAWN_CMD='%C' "$udp" 2 4 && fail "a command without PMIx starts ranks"
grep -q 'without a PMIx server' "$work/err" || fail "a command without PMIx: no word of it"

# ---- other launchers: what they are given, as they play it back ----
for other in mpirun srun; do
  printf '%s\n' '#!/bin/sh' "echo $other \"\$@\"" >"$work/path/$other"
  chmod +x "$work/path/$other"
done
run env PATH="$work/path:$PATH" GASNET_QUIET=1 A=1 B= "$tree/bin/gasnetrun_ofi" -spawner=mpi -n 5 -N 2 -E A,B -E C prog 1 ||
  fail "-spawner=mpi fails"
grep -qxF 'mpirun -n 5 --map-by ppr:3:node -x GASNET_QUIET -x B -x A prog 1' "$work/out" || fail "mpirun is given something else"
run env PATH="$work/path:$PATH" "$tree/bin/gasnetrun_ofi" -spawner=pmi -n 5 -N 2 -E A prog 1 || fail "-spawner=pmi fails"
grep -qxF 'srun --mpi=pmix -n 5 -N 2 prog 1' "$work/out" || fail "srun is given something else"
run "$tree/bin/gasnetrun_udp" -n 2 -N x "$udp" && fail "-N x is accepted"
grep -q -e '-N x: expected a number of hosts' "$work/err" || fail "-N x is not named"
exit 0
