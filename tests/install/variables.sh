#!/bin/sh
# Goes through variables.list: what is to be honoured has a test that names it, and what is to be
# accepted neither changes what a program does nor makes anybody speak.
# Usage: variables.sh TREE WORK_DIR SOURCE_DIR CC
# Catches: a variable whose test was renamed or forgotten; one that makes a job fail, talk, or leave a
# file behind; lines of several ranks that are torn or lost on their way to the launcher.
set -eu
tree=$1 work=$2 source=$3 cc=$4
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work/empty"
list=$here/variables.list
names=$(sed -n 's/^\(GASNET_[A-Z_]*\) .*/\1/p' "$list")
for name in $names; do unset "$name" || true; done
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"

status=0
fail() { cat "$work/out" "$work/err" 2>/dev/null || true; echo "variables: $*"; exit 1; }
run() { (cd "$work/empty" && timeout 100 "$@") >"$work/out" 2>"$work/err"; }

# ---- each has its test ----
sed 's/#.*//' "$list" | while read -r name advice test rest; do
  [ -n "$name" ] || continue
  [ -z "$rest" ] || echo "$name: '$rest' is too much"
  case $advice in
    must | should)
      [ "$test" = theirs ] || grep -qw -- "$name" "$source/$test" || echo "$name: '$test' does not name it" ;;
    accept) [ -z "$test" ] || echo "$name: what has no effect has no test of it" ;;
    *) echo "$name: advice '$advice'" ;;
  esac
done >"$work/list.log"
[ ! -s "$work/list.log" ] || { cat "$work/list.log"; status=1; }

# ---- what is accepted ----
# shellcheck disable=SC2046
"$cc" "$here/identity.c" -o "$work/client" $(pkg-config --cflags --libs gasnet-udp-par) || fail "identity.c does not compile"
as_ever() {
  grep -q . "$work/err" && fail "$1: somebody speaks"
  sort "$work/out" | cmp -s - "$work/plain" || fail "$1: another output"
  [ -z "$(ls -A "$work/empty")" ] || fail "$1: left $(ls -A "$work/empty")"
}
run "$tree/bin/amudprun" -np 4 "$work/client" || fail "the client fails"
sort "$work/out" >"$work/plain"
as_ever "no variable"
accepted=$(awk '$2 == "accept" {print $1}' "$list")
for value in 1 0 nonsense; do
  settings=''
  for name in $accepted; do
    case $name in *_) name=${name}ANYTHING ;; esac
    settings="$settings $name=$value"
  done
  # shellcheck disable=SC2086
  run env $settings "$tree/bin/amudprun" -np 4 "$work/client" || fail "the accepted ones at '$value': the client fails"
  as_ever "the accepted ones at '$value'"
done

# No MPI is used, so any level of its threads will do.
for level in SINGLE FUNNELED SERIALIZED MULTIPLE; do
  run env GASNET_MPI_THREAD=$level "$tree/bin/gasnetrun_mpi" -n 4 "$work/client" || fail "GASNET_MPI_THREAD=$level fails"
  as_ever "GASNET_MPI_THREAD=$level"
done

# ---- output: all of it, whole lines of any length, whatever is said of routing and buffers ----
cat >"$work/lines.sh" <<'LINES'
letter=$(printf '%s' abcdefgh | cut -c "$((PMIX_RANK + 1))")
line=$(head -c 3000 /dev/zero | tr '\0' "$letter")
for i in 1 2 3 4 5 6 7 8 9 10; do echo "$line"; echo "$line" >&2; done
printf %s "$line"
LINES
for setting in GASNET_ROUTE_OUTPUT=1 GASNET_ROUTE_OUTPUT=0 GASNET_LINEBUFFERSZ=64 GASNET_LINEBUFFERSZ=0; do
  run env "$setting" "$tree/bin/amudprun" -np 4 sh "$work/lines.sh" || fail "$setting fails"
  for letter in a b c d; do
    [ "$(grep -c "^$letter\{3000\}$" "$work/out")" = 11 ] || fail "$setting: lines of stdout are torn or lost"
    [ "$(grep -c "^$letter\{3000\}$" "$work/err")" = 10 ] || fail "$setting: lines of stderr are torn or lost"
  done
done

# ---- who starts the ranks, for the conduits that identities.sh leaves out ----
for variable in GASNET_SMP_SPAWNER GASNET_IBV_SPAWNER; do
  launcher=$tree/bin/gasnetrun_$(echo $variable | sed 's/GASNET_//; s/_SPAWNER//' | tr '[:upper:]' '[:lower:]')
  run env $variable=nonsense "$launcher" -n 2 "$work/client" && fail "$variable=nonsense runs"
  grep -q "spawner 'nonsense'" "$work/err" || fail "$variable is not named"
  run env $variable=fork "$launcher" -n 4 "$work/client" || fail "$variable=fork fails"
done
exit $status
