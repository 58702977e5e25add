#!/bin/sh
# Builds a Fortran program against the installed tree, through pkg-config, through the CMake package
# or with the installed sources of the modules, and runs it with 3 ranks of the installed command.
# Usage: fortran.sh pkg-config|cmake|sources TREE WORK_DIR FC CC
# Catches: module files, an archive or sources that nobody installs, wrong flags or targets, sources
# that lean on the build's flags.
set -eu
way=$1 tree=$2 work=$3 fc=$4 cc=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
libdir=$(pkg-config --variable=libdir causeway-gaspi)
warn='-std=f2008 -Wall -Werror -Wno-unused-dummy-argument -O2'
cd "$work"

# shellcheck disable=SC2046,SC2086 # flags are words
case $way in
  pkg-config)
    $fc $warn "$here/fortran/client.f90" $(pkg-config --cflags --libs causeway-gaspi-fortran) \
      -Wl,-rpath,"$libdir" -o client
    ;;
  sources)
    dir=$(pkg-config --variable=fortran_sources causeway-gaspi)
    $fc "$dir/gaspi_types.f90" "$dir/GASPI_C_BINDING.f90" "$dir/gaspi.f90" \
      "$here/fortran/client.f90" $(pkg-config --libs causeway-gaspi) -Wl,-rpath,"$libdir" -o client
    ;;
  cmake)
    {
      cmake -S "$here/fortran" -B "$work" -DCMAKE_PREFIX_PATH="$tree" \
        -DCMAKE_Fortran_COMPILER="$fc" -DCMAKE_C_COMPILER="$cc" && cmake --build "$work"
    } >"$work.log" 2>&1 || { cat "$work.log"; exit 1; }
    ;;
esac

timeout 60 "$tree/bin/causeway" run -n 3 ./client >client.out || {
  status=$?
  cat client.out
  echo "fortran: the program ended with status $status"
  exit 1
}
if [ "$(sort client.out)" != "rank 0 of 3: ok
rank 1 of 3: ok
rank 2 of 3: ok" ]; then
  cat client.out
  echo "fortran: the program printed something else than three times ok"
  exit 1
fi
