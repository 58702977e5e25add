#!/bin/sh
# Takes the program out of a page of core/api/bindings, builds it as the page says, and runs it with an
# installed tree, which it loads or links by name, over shared memory and over messages alone.
# Usage: page.sh python|fortran PAGE TREE WORK_DIR INTERPRETER_OR_COMPILER
# Catches: a page whose program does not start, does not compile without warnings, or prints something
# else than who wrote, read and answered what; a symbol that is gone; a Python exception that ends in a
# crash, because a handler ran without an interpreter.
set -eu
language=$1 page=$2 tree=$3 work=$4 tool=$5
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
program() {
  awk -v fence="^\`\`\`$language\$" '$0 ~ fence { inside = 1; next } /^```/ { if (inside) exit } inside' "$page"
}
case $language in
  python)
    program >"$work/hello.py"
    export LD_LIBRARY_PATH="$tree/lib"
    set -- "$tool" "$work/hello.py"
    ;;
  fortran)
    program >"$work/hello.f90"
    export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
    cd "$work"
    # shellcheck disable=SC2046 # flags are words
    "$tool" -std=f2008 -Wall -Wextra -Werror -O2 hello.f90 $(pkg-config --libs causeway) \
      -Wl,-rpath,"$tree/lib" -o hello
    set -- "$work/hello"
    ;;
esac

# Each rank prints a line: rank R heard its left neighbor, read its own number, and was told 15 times that.
expected() {
  rank=0
  while [ $rank -lt "$1" ]; do
    echo "rank $rank of $1: heard $(((rank + $1 - 1) % $1)), read $rank, was told $((15 * rank))"
    rank=$((rank + 1))
  done
}
for config in default sites/am-only; do
  for ranks in 1 2 4; do
    timeout 60 "$tree/bin/causeway" run -n $ranks --config "$tree/share/causeway/configs/$config.yaml" \
      "$@" >"$work/out" 2>"$work/err" || {
      cat "$work/out" "$work/err"
      echo "page: $language fails with $config, $ranks ranks"
      exit 1
    }
    if [ "$(grep '^rank' "$work/out" | sort)" != "$(expected $ranks)" ]; then
      cat "$work/out" "$work/err"
      echo "page: $language prints something else with $config, $ranks ranks"
      exit 1
    fi
  done
done

# A rank that ends by an exception ends the job with its own status, and does not crash on the way.
if [ "$language" = python ]; then
  sed 's/^text = .*/&\nif me == 1: raise RuntimeError("wanted")/' "$work/hello.py" >"$work/raises.py"
  status=0
  timeout 60 "$tree/bin/causeway" run -n 2 "$tool" "$work/raises.py" >"$work/out" 2>&1 || status=$?
  if [ $status -ne 1 ] || ! grep -q 'RuntimeError: wanted' "$work/out"; then
    cat "$work/out"
    echo "page: a job with an exception ended with status $status, not 1"
    exit 1
  fi
fi
