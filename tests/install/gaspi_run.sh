#!/bin/sh
# GASPI programs started as the field starts them: gaspi_run with a machine file, over hosts that an
# agent plays on this machine; the same file for `causeway run`; and what is said about mistakes.
# Usage: gaspi_run.sh TREE WORK_DIR CC
# Catches: a job that recovered and ends with the status of the failure, or one that did not and ends
# with 0; ranks on another host than the file's, options that are lost, a mistake that starts
# something or is told in more than one line.
set -u
tree=$1 work=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS GASPI_AGENT GASPI_BIND GASPI_ON_FAILURE GASPI_SPARES
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
libdir=$(pkg-config --variable=libdir GPI2)
run=$tree/bin/gaspi_run
bad=0
fail() {
  echo "gaspi_run: $*"
  cat "$work/out" "$work/err"
  bad=1
}

# By the name that builds of GASPI programs ask for.
# shellcheck disable=SC2046 # flags are words
$cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$here/gaspi_run_client.c" \
  $(pkg-config --cflags --libs GPI2) -Wl,-rpath,"$libdir" -o "$work/where" || exit 1
$cc -std=c99 "$here/gaspi_run_client.c" -I "$tree/include" -L "$tree/lib" -lGPI2 \
  -Wl,-rpath,"$libdir" -o "$work/first" || exit 1

# An agent that knows three hosts, which all are this machine.
cat >"$work/agent" <<'END'
#!/bin/sh
case $1 in alpha | beta | gamma) shift ;; *) echo "no host $1" >&2; exit 255 ;; esac
exec "$@"
END
chmod +x "$work/agent"

# expect NAME STATUS EXPECTED-OUTPUT COMMAND...: output in any order of lines.
expect() {
  name=$1 status=$2 expected=$3
  shift 3
  timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ "$code" = "$status" ] || fail "$name: status $code instead of $status"
  [ "$(sort "$work/out")" = "$expected" ] || fail "$name: other output than
$expected
but"
}
# mistake NAME TEXT COMMAND...: one line with the text, nothing started, status 1.
mistake() {
  name=$1 text=$2
  shift 2
  timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ "$code" = 1 ] || fail "$name: status $code"
  [ ! -s "$work/out" ] || fail "$name: something was started"
  [ "$(wc -l <"$work/err")" = 1 ] || fail "$name: not one line"
  grep -q -- "$text" "$work/err" || fail "$name: does not say '$text'"
}

# One host, by its two names for this machine.
printf 'localhost\nlocalhost\nlocalhost\n' >"$work/local"
three='rank 0 of 3, 0 of 3 here, where with 0 arguments
rank 1 of 3, 1 of 3 here, where with 0 arguments
rank 2 of 3, 2 of 3 here, where with 0 arguments'
expect "a file" 0 "$three" "$run" -m "$work/local" "$work/where"
expect "the same file for causeway run" 0 "$three" \
  "$tree/bin/causeway" run --host-file "$work/local" -- "$work/where"
expect "a number, options of the program" 7 'rank 0 of 2, 0 of 2 here, where with 3 arguments, bound
rank 1 of 2, 1 of 2 here, where with 3 arguments, bound' \
  "$run" -m "$work/local" -N -n 2 "$work/where" -n 7 -m
# Failures: rank 1 kills itself once; its place is taken, or the others go on.
# shellcheck disable=SC2046 # flags are words
$cc -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror "$here/gaspi_recovery.c" \
  $(pkg-config --cflags --libs causeway-gaspi) -Wl,-rpath,"$libdir" -o "$work/recovery" || exit 1
all='all of 3 are there'
expect "a spare" 0 "$all" "$run" -m "$work/local" --spares 1 "$work/recovery"
expect "a spare, by its variable" 0 "$all" env GASPI_SPARES=1 "$run" -m "$work/local" "$work/recovery"
expect "a spare, and the failure counts" 137 "$all" \
  "$run" -m "$work/local" --spares=2 --fail-recovered "$work/recovery"
expect "no spare" 137 'rank 1 is missed' "$run" -m "$work/local" --on-failure=continue "$work/recovery"
expect "no spare, by the variable" 137 'rank 1 is missed' \
  env GASPI_ON_FAILURE=continue "$run" -m "$work/local" "$work/recovery"
expect "an option before its variable" 137 '' \
  env GASPI_ON_FAILURE=continue "$run" -m "$work/local" --on-failure abort "$work/recovery"

expect "help" 0 "$("$run" --help | sort)" "$run" -h
grep -q '^usage: gaspi_run -m FILE' "$work/out" || fail "help: no usage"

# Several hosts, over the first network that was built; lines in any order, comments, blank lines, carriage returns.
export GASPI_AGENT="$work/agent"
printf 'alpha\r\nbeta\r\n\r\n# more of them\nalpha\n  gamma  \n' >"$work/hosts"
network=
for conduit in ofi ucx; do
  [ -n "$network" ] || [ ! -e "$tree/lib/causeway/2/conduit_$conduit.so" ] ||
    network=$tree/share/causeway/configs/sites/$conduit-tcp.yaml
done
several() {
  if [ -n "$network" ]; then
    CAUSEWAY_CONFIG=$network expect "$@"
  else
    echo "gaspi_run: $1: skipped, no network was built"
  fi
}
several "several hosts" 0 'rank 0 of 4, 0 of 2 here, where with 0 arguments
rank 1 of 4, 0 of 1 here, where with 0 arguments
rank 2 of 4, 1 of 2 here, where with 0 arguments
rank 3 of 4, 0 of 1 here, where with 0 arguments' "$run" -m "$work/hosts" "$work/where"
several "ranks per host" 0 'rank 0 of 3, 0 of 1 here, where with 0 arguments
rank 1 of 3, 0 of 1 here, where with 0 arguments
rank 2 of 3, 0 of 1 here, where with 0 arguments' "$run" -m "$work/hosts" -N 1 "$work/where"
several "another program on the first host" 0 'rank 0 of 4, 0 of 2 here, first with 1 arguments
rank 1 of 4, 0 of 1 here, where with 1 arguments
rank 2 of 4, 1 of 2 here, first with 1 arguments
rank 3 of 4, 0 of 1 here, where with 1 arguments' \
  "$run" -m "$work/hosts" -b "$work/first" "$work/where" x

# Mistakes.
env -u GASPI_AGENT GASPI_BIND=x timeout 60 "$run" -m "$work/local" -n 2 "$work/where" >"$work/out" 2>"$work/err" &&
  fail "GASPI_BIND=x is accepted"
grep -q "GASPI_BIND is 'x'; expected 'none' or 'socket'" "$work/err" || fail "GASPI_BIND=x: no word of it"
: >"$work/empty"
printf '# nobody\n\n' >"$work/nobody"
printf 'alpha\n-oProxyCommand=x\n' >"$work/option"
printf 'alpha cores=2\n' >"$work/words"
mistake "no file" "-m FILE is missing" "$run" "$work/where"
mistake "no value" "-m needs a value" "$run" -m
mistake "another file" "there is no machine file '/no/such/file'" "$run" -m /no/such/file "$work/where"
mistake "a directory" "is a directory" "$run" -m "$work" "$work/where"
mistake "an empty file" "no host with a slot is named" "$run" -m "$work/empty" "$work/where"
mistake "comments only" "no host with a slot is named" "$run" -m "$work/nobody" "$work/where"
mistake "an option for a name" ":2: '-oProxyCommand=x' is not a host's name" \
  "$run" -m "$work/option" "$work/where"
mistake "more words" ":1: 'cores=2' is not of the form slots=N, N up to 65536" "$run" -m "$work/words" "$work/where"
mistake "no program" "no program given" "$run" -m "$work/hosts"
mistake "an unknown option" "unknown option '-x'" "$run" -m "$work/hosts" -x "$work/where"
for number in 0 x -1 1.5 4097 99999999999; do
  mistake "-n $number" "-n $number: expected a number from 1 to 4096" \
    "$run" -m "$work/hosts" -n "$number" "$work/where"
done
mistake "-N 5000" "-N 5000: expected a number" "$run" -m "$work/hosts" -N 5000 "$work/where"
mistake "--spares x" "--spares x: expected a number from 0" \
  "$run" -m "$work/hosts" --spares x "$work/where"
mistake "--on-failure" "--on-failure go: expected abort or continue" \
  "$run" -m "$work/hosts" --on-failure=go "$work/where"
mistake "GASPI_SPARES" "GASPI_SPARES many: expected a number" \
  env GASPI_SPARES=many "$run" -m "$work/hosts" "$work/where"
mistake "more ranks than lines" "5 ranks, but .* room for 4 on 3 hosts" \
  "$run" -m "$work/hosts" -n 5 "$work/where"
exit $bad
