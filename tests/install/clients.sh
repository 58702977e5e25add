#!/bin/sh
# Builds one client program against the installed tree in C99, C++11 and C++20, and three programs
# that newcomers might write from the specification alone (newcomer/), through pkg-config or through
# the CMake package, and runs each with 3 ranks of the installed command.
# Usage: clients.sh pkg-config|cmake TREE WORK_DIR CC CXX
# Catches: wrong flags or targets in either package, headers that a client's language level
# rejects, symbols missing from the library's export list, plugins not found in a moved tree.
set -eu
way=$1 tree=$2 work=$3 cc=$4 cxx=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true

case $way in
  pkg-config)
    export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
    flags=$(pkg-config --cflags --libs causeway)
    libdir=$(pkg-config --variable=libdir causeway)
    warn='-Wall -Wextra -Wpedantic -Werror -O2'
    cp "$here/client.c" "$work/client.cpp"
    # shellcheck disable=SC2086 # flags are words
    {
      $cc -std=c99 $warn "$here/client.c" $flags -Wl,-rpath,"$libdir" -o "$work/client_c99"
      $cxx -std=c++11 $warn "$work/client.cpp" $flags -Wl,-rpath,"$libdir" -o "$work/client_cxx11"
      $cxx -std=c++20 $warn "$work/client.cpp" $flags -Wl,-rpath,"$libdir" -o "$work/client_cxx20"
      $cc -std=c99 $warn "$here/newcomer/halo.c" $flags -Wl,-rpath,"$libdir" -o "$work/halo"
      $cxx -std=c++11 $warn "$here/newcomer/table.cpp" $flags -pthread -Wl,-rpath,"$libdir" \
        -o "$work/table"
      $cxx -std=c++20 $warn "$here/newcomer/histogram.cpp" $flags -Wl,-rpath,"$libdir" \
        -o "$work/histogram"
    }
    ;;
  cmake)
    cmake -S "$here/client" -B "$work" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_C_COMPILER="$cc" \
      -DCMAKE_CXX_COMPILER="$cxx" >"$work.log"
    cmake --build "$work" >>"$work.log" || { cat "$work.log"; exit 1; }
    # A version this is not must not be found.
    if cmake -S "$here/client" -B "$work-other" -DCMAKE_PREFIX_PATH="$tree" -DWANTED=99.0 \
      >>"$work.log" 2>&1; then
      echo "clients: find_package(Causeway 99.0) succeeds"
      exit 1
    fi
    rm -rf "$work-other"
    ;;
esac

for client in client_c99 client_cxx11 client_cxx20 halo table histogram; do
  timeout 60 "$tree/bin/causeway" run -n 3 "$work/$client" >"$work/$client.out" || {
    status=$?
    cat "$work/$client.out"
    echo "clients: $client ended with status $status"
    exit 1
  }
  if [ "$(sort "$work/$client.out")" != "rank 0 of 3: ok
rank 1 of 3: ok
rank 2 of 3: ok" ]; then
    cat "$work/$client.out"
    echo "clients: $client printed something else than three times ok"
    exit 1
  fi
done
