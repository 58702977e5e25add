#!/bin/sh
# Compiles every installed header alone, as C99, C++11 and C++20.
# Usage: headers.sh TREE CC CXX
# Catches: a header that leans on another one's includes or on C++20, or that warns in a client
# built with -Wall -Wextra -pedantic.
set -eu
include=$1/include cc=$2 cxx=$3
status=0
check() {
  printf '%s\n#include <%s>\nint main(void) { return 0; }\n' "$define" "$header" |
    "$@" -Wall -Wextra -Wpedantic -Werror -I "$include" -fsyntax-only - || {
    echo "headers: <$header> fails with $*"
    status=1
  }
}
for header in $(cd "$include" && find . -name '*.h' | sed 's|^\./||' | sort); do
  define='#define GASNET_PAR'
  case $header in
    # parts of gasnetex.h, gasnet.h and gasnet_tools.h, say so themselves
    causeway/am_calls.h | causeway/identity.h | causeway/gasnet1_*.h | causeway/tools/*.h) continue ;;
    gasnetex.h | gasnet.h | gasnet_coll.h | gasnet_mk.h | gasnet_ratomic.h | gasnet_vis.h) ;;
    *) define= ;;
  esac
  check "$cc" -x c -std=c99
  check "$cxx" -x c++ -std=c++11
  check "$cxx" -x c++ -std=c++20
done
exit $status
