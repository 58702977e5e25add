#!/bin/sh
# Compiles programs that use all of the headers (quiet/) in every mode, C99 to C23 and C++11 to C++23,
# with each compiler that is here, all warnings being errors; links them with the library; and asks the
# preprocessor for every constant that clients compare.
# Usage: quiet.sh TREE WORK_DIR CC CXX
# Catches: a macro or inline function that warns where it is used (headers.sh only includes); a handle
# that a C++ client cannot cast; a name that gasnetex.h alone does not bring; a constant with a cast in
# it; a device class that is announced to a client that cannot be compiled for it.
set -eu
tree=$1 work=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)/quiet
include=$tree/include
rm -rf "$work"
mkdir -p "$work"
status=0
complain() { echo "quiet: $*"; status=1; }

# ---- constants in #if: whatever the headers define under these prefixes ----
constants=$(cat "$include/gasnet_fwd.h" "$include/gasnetex.h" |
  sed -n 's/^#define \(GEX_\(FLAG\|OP\|DT\|EC\|TI\|EP_CAPABILITY\)_[A-Z0-9_]*\) .*/\1/p')
[ "$(echo "$constants" | wc -l)" -gt 80 ] || complain "only these constants: $constants"
for name in $constants GEX_RANK_INVALID GASNET_BARRIERFLAG_UNNAMED GASNET_COLL_LOCAL GASNET_ERR_NOT_READY; do
  printf '#if (%s) < 1 || ((%s) & 0xFFFFFFFF) == 0\n#error %s\n#endif\n' "$name" "$name" "$name"
done >"$work/constants.inc"
printf '#include <gasnetex.h>\n#include <gasnet_coll.h>\n#include "constants.inc"\n' >"$work/constants.c"

# ---- every mode, compiler and standard ----
compile() { # SOURCE COMPILER OPTIONS...
  source=$1
  shift
  # shellcheck disable=SC2086 # a mode and an optimisation are words
  "$@" $mode -Wall -Wextra -pedantic -Werror -I "$include" -I "$work" "$source" ||
    complain "$(basename "$source") fails: $* $mode"
}
pair() { # CC CXX
  command -v "$1" >/dev/null && command -v "$2" >/dev/null || return 0
  for mode in -DGASNET_SEQ -DGASNET_PARSYNC -DGASNET_PAR; do
    # Each mode in the oldest and the newest standard, and PAR in those between. With
    # optimisation too, where compilers follow values.
    in_c='99 2x' in_cxx='11 2b'
    [ $mode = -DGASNET_PAR ] && in_c='99 11 17 2x' in_cxx='11 14 17 20 2b'
    for std in $in_c; do
      for source in "$here/ex_alone.c" "$here/every_tool.c" "$work/constants.c"; do
        compile "$source" "$1" -std=c$std -fsyntax-only
      done
    done
    for std in $in_cxx; do
      for source in "$here/ex_alone.c" "$here/every_tool.c" "$here/handles.cpp"; do
        compile "$source" "$2" -x c++ -std=c++$std -fsyntax-only
      done
    done
    for source in "$here/ex_alone.c" "$here/every_tool.c"; do
      compile "$source" "$1" -std=c11 -O2 -fPIC -c -o "$work/$(basename "$source" .c).o"
    done
    compile "$here/handles.cpp" "$2" -std=c++14 -O2 -fPIC -c -o "$work/handles.o"
    "$2" -shared -Wl,-z,defs "$work/ex_alone.o" "$work/every_tool.o" "$work/handles.o" \
      -L "$tree/lib" -lcauseway -o "$work/linked.so" || complain "$1: the library lacks names ($mode)"
  done
}
pair "$cc" "$cxx"
for other in 'gcc g++' 'clang clang++'; do
  # shellcheck disable=SC2086 # two words
  [ "$(command -v "$cc")" -ef "$(command -v ${other% *})" ] || pair $other
done

# ---- device classes: the vendors' headers are found, or not ----
vendors=$work/vendors
mkdir -p "$vendors/hip" "$vendors/level_zero"
for header in cuda.h hip/hip_runtime_api.h level_zero/ze_api.h; do : >"$vendors/$header"; done
# Without the system's headers: what is installed here does not matter.
expect() { # CLASSES OPTIONS...: the classes announced, beside the host's
  classes=$1
  shift
  found=$(printf '#include <causeway/device_classes.h>\n' |
    "$cc" -x c -nostdinc "$@" -I "$include" -dM -E - |
    sed -n 's/^#define GASNET_HAVE_MK_CLASS_\([A-Z_]*\) 1$/\1/p' | grep -vx HOST | sort | tr '\n' ' ')
  [ "$found" = "$classes" ] || complain "announced with '$*': '$found', not '$classes'"
}
expect ''
expect 'CUDA_UVA MULTIPLE ZE ' -I "$vendors"
expect 'CUDA_UVA HIP MULTIPLE ZE ' -I "$vendors" -D__HIP_PLATFORM_AMD__
expect 'HIP MULTIPLE ' -DGASNET_HAVE_MK_CLASS_HIP
exit $status
