#!/bin/sh
# GASPI programs as builds of the field find the library, by the name of GPI-2: in lib and lib64, through
# GPI2.pc or without it, with operations of reductions that are cast, names of their own, Fortran's
# modules, a profiler in a library of its own.
# Usage: gpi2.sh TREE WORK_DIR SOURCE_DIR CC CXX FC
# Catches: a name or a place that a build looks for in vain; flags with which a cast operation is called
# in the wrong form; a name of the library's that a program of the specification alone may have for
# itself; a macro in the way of a profiler's procedure.
set -eu
tree=$1 work=$2 source=$3 CC=$4 CXX=$5 fc=$6
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS MAKEFLAGS || true
status=0
complain() { echo "gpi2: $*"; status=1; }
# run RANKS EXPECTED PROGRAM: every rank says it.
run() {
  out=$(timeout 60 "$tree/bin/causeway" run -n "$1" --timeout 50 -- "$3" 2>&1) || complain "$3: status $?"
  [ "$(echo "$out" | grep -c "$2")" = "$1" ] || complain "$3: not $1 times '$2' in: $out"
}

for file in lib/libGPI2.so lib/libGPI2-dbg.so lib/pkgconfig/GPI2.pc lib64/libGPI2.so \
  lib64/libGPI2-dbg.so lib64/pkgconfig/GPI2.pc include/GASPI_Threads.h; do
  [ -e "$tree/$file" ] || complain "no $file"
done

# The same program in three languages, by both package files, and without one.
cp "$here/gpi2_client.c" "$work/client.cpp"
for place in lib lib64; do
  export PKG_CONFIG_PATH="$tree/$place/pkgconfig"
  cflags=$(pkg-config --cflags GPI2) libs=$(pkg-config --libs GPI2)
  # shellcheck disable=SC2086 # flags are words
  {
    $CC -std=c99 $cflags "$here/gpi2_client.c" $libs -o "$work/c99-$place"
    $CC -std=c11 $cflags "$here/gpi2_client.c" $libs -o "$work/c11-$place"
    $CXX -std=c++11 $cflags "$work/client.cpp" $libs -o "$work/cxx-$place"
  }
  for language in c99 c11 cxx; do run 3 'ok$' "$work/$language-$place"; done
  $CC -std=c99 -DGASPI_GPI2_SOURCE -I "$tree/include" "$here/gpi2_client.c" -L "$tree/$place" \
    -lGPI2-dbg -Wl,-rpath,"$tree/lib" -o "$work/dbg-$place"
done
run 2 'ok$' "$work/dbg-lib64"

# The specification alone: names beyond it are the program's.
cat >"$work/alone.c" <<'END'
#include <GASPI.h>
#include <stdio.h>
static int gaspi_segment_size(int blocks) { return 64 * blocks; }
double gaspi_initialized(void);
double gaspi_initialized(void) { return 2.5; }
int main(void) {
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  if (gaspi_segment_size(2) == 128 && gaspi_initialized() == 2.5) puts("ok");
  return gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS ? 0 : 1;
}
END
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
if $CC -std=c99 -Wall -Wextra -Wpedantic -Werror -DGASPI_SPECIFICATION_ONLY "$work/alone.c" \
  $(pkg-config --cflags --libs GPI2) -o "$work/alone"; then
  run 2 'ok$' "$work/alone"
else
  complain "a program of the specification alone does not build"
fi

# Fortran's modules come with GPI2.pc.
if [ -n "$fc" ]; then
  # shellcheck disable=SC2046
  $fc "$here/fortran/client.f90" $(pkg-config --cflags --libs GPI2) -o "$work/fortran"
  run 2 'ok$' "$work/fortran"
fi

# A profiler.
cp -R "$source/tests/clients/gaspi_profiler" "$work/profiler"
CC=$CC CXX=$CXX make -C "$work/profiler" >"$work/make.log" 2>&1 || {
  cat "$work/make.log"
  complain "the profiler does not build"
  exit 1
}
for ranks in 1 2 4; do run $ranks ': ok$' "$work/profiler/gaspi_profiler"; done
for network in am-only ofi-tcp ucx-tcp; do
  [ "$network" = am-only ] || [ -e "$tree/lib/causeway/2/conduit_${network%-tcp}.so" ] || continue
  export CAUSEWAY_CONFIG="$tree/share/causeway/configs/sites/$network.yaml"
  run 2 ': ok$' "$work/profiler/gaspi_profiler"
  echo "$out" | grep -q 'tally: gaspi_write_notify *100 calls *800 bytes' ||
    complain "the profiler's table over $network: $out"
done
exit $status
