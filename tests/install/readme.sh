#!/bin/sh
# Takes the first program out of README.md, builds it as README.md says, and runs it over both
# transports.
# Usage: readme.sh README TREE WORK_DIR CC
# Catches: a first program that does not compile, or does not do what the text promises.
set -eu
readme=$1 tree=$2 work=$3 cc=$4
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
awk '/^```c$/ { inside = 1; next } /^```/ { if (inside) exit } inside' "$readme" >"$work/hello.c"
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
$cc -Wall -Wextra -Werror "$work/hello.c" $(pkg-config --cflags --libs causeway) \
  -Wl,-rpath,"$tree/lib" -o "$work/hello"

expected='rank 0 heard from rank 3
rank 1 heard from rank 0
rank 2 heard from rank 1
rank 3 heard from rank 2'
for config in default sites/am-only; do
  timeout 60 "$tree/bin/causeway" run -n 4 --config "$tree/share/causeway/configs/$config.yaml" \
    "$work/hello" >"$work/out" || { cat "$work/out"; echo "readme: fails with $config"; exit 1; }
  if [ "$(grep '^rank' "$work/out" | sort)" != "$expected" ]; then
    cat "$work/out"
    echo "readme: wrong output with $config"
    exit 1
  fi
done
