#!/bin/sh
# Configures the tree as packagers do, without a preset: parts ON, OFF and AUTO, flags of theirs, and what is
# refused. Nothing is compiled.
# Usage: parts.sh WORK_DIR SOURCE_DIR CC CXX
# Would catch: a part that is built although it is OFF, or looked for; one that is ON and silently left out; a
# missing library that AUTO does not tell; warnings as errors outside of the presets; flags of the user's that
# ours override; a static library that is asked for and not refused.
set -eu
work=$1 source=$2 cc=$3 cxx=$4
rm -rf "$work"
mkdir -p "$work/pc"
unset CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH || true
fail() { tail -40 "$work/out" 2>/dev/null || true; echo "parts: $*"; exit 1; }
configure() { # OPTIONS...
  cmake -S "$source" -B "$work/build" "-DCMAKE_C_COMPILER=$cc" "-DCMAKE_CXX_COMPILER=$cxx" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >"$work/out" 2>&1
}
row() { grep -Eq "^--   $1 +$2 .*${3:-}" "$work/out" || fail "no row '$1 $2 ... ${3:-}'"; }
# CMake breaks long lines.
says() { tr -s ' \n' ' ' <"$work/out" | grep -qF "$1" || fail "nobody says '$1'"; }
refused() { # TEXT OPTIONS...
  text=$1
  shift
  if configure "$@"; then fail "$* is accepted"; fi
  says "$text"
}

# ---- libfabric is missing ----
pkg-config --variable pc_path pkg-config | tr : '\n' | while read -r dir; do
  for file in "$dir"/*.pc; do
    [ ! -e "$file" ] || [ "$(basename "$file")" = libfabric.pc ] || ln -sf "$file" "$work/pc/"
  done
done
export PKG_CONFIG_LIBDIR="$work/pc"
configure || fail "the tree cannot be configured without options"
row OFI no 'libfabric 1.17 or newer was not found \(Debian: libfabric-dev\)'
row SHM yes
row GASPI yes
row IDENTITY_UDP yes
grep -q "with pmix [0-9]" "$work/out" || fail "versions are not told"
[ "$(grep -c . "$work/build/compile_commands.json")" -gt 500 ] || fail "hardly anything is compiled"
grep -q -e '-Werror' "$work/build/compile_commands.json" && fail "warnings are errors without a preset"
grep -q 'tests/unit' "$work/build/compile_commands.json" && fail "tests are built by default"
refused 'CAUSEWAY_WITH_OFI is ON: libfabric 1.17 or newer was not found' -DCAUSEWAY_WITH_OFI=ON
refused "CAUSEWAY_WITH_OFI is 'perhaps': give ON, OFF or AUTO" -DCAUSEWAY_WITH_OFI=perhaps
refused 'BUILD_SHARED_LIBS is OFF, and Causeway has no static library' -DCAUSEWAY_WITH_OFI=AUTO -DBUILD_SHARED_LIBS=OFF
refused 'BUILD_TESTING is ON, and the tests use GASPI, which is not built' -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=ON \
  -DCAUSEWAY_WITH_GASPI=OFF -DCAUSEWAY_WITH_IDENTITY_GPI2=AUTO
refused 'CAUSEWAY_WITH_FORTRAN is ON: there is no GASPI' -DBUILD_TESTING=OFF -DCAUSEWAY_WITH_FORTRAN=ON

# ---- nothing that can be left out; flags of the user's ----
off=
for part in SHM OFI UCX VERBS ETH NULL TRACE CHAOS FAILOVER CUDA HIP ZE HIER GASPI FORTRAN MAN TLS IDENTITY_SMP IDENTITY_UDP \
  IDENTITY_MPI IDENTITY_IBV IDENTITY_OFI IDENTITY_UCX IDENTITY_TOOLS IDENTITY_GPI2; do
  off="$off -DCAUSEWAY_WITH_$part=OFF"
done
rm -rf "$work/build"
# shellcheck disable=SC2086 # words
configure $off '-DCMAKE_CXX_FLAGS=-O3 -Wno-shadow -fno-omit-frame-pointer' -DCAUSEWAY_DEBUG_INFO=1 ||
  fail "the tree cannot be configured without its parts"
for part in $off; do
  part=${part#-DCAUSEWAY_WITH_}
  row "${part%=OFF}" no "CAUSEWAY_WITH_${part%=OFF} is OFF"
done
[ "$(grep -c '^--   [A-Z_0-9]*  *yes ' "$work/out")" = 0 ] || fail "a part is built although all are OFF"
left=$(find "$work/build" -name cmake_install.cmake -exec \
  grep -lE 'conduit_(shm|ofi|ucx|verbs|eth|null|trace|chaos|failover)\.so|memkind_(cuda|hip|ze)|collective_hier|causeway[_-]gaspi|gaspi_run|PGASPI|GPI2|libgasnet|gasnetrun' {} +) || true
[ -z "$left" ] || fail "all is OFF, and something is installed by $left"
command=$(grep '"command"' "$work/build/compile_commands.json" | grep 'core/am/send.cpp' | head -n 1)
case $command in *' -O2 '* | *' -g '*) fail "flags of ours stand beside the user's: $command" ;; esac
case $command in *' -O3 '*' -g1 '*' -Wshadow '*' -Wno-shadow '*) ;; *) fail "the user's flags do not stand last: $command" ;; esac

# ---- one identity of many; a name that is asked for beside none ----
rm -rf "$work/build"
configure -DCAUSEWAY_IDENTITIES=none -DCAUSEWAY_WITH_IDENTITY_OFI=ON || fail "one identity is refused"
row IDENTITY_OFI yes
row IDENTITY_UDP no 'CAUSEWAY_IDENTITIES is none'
exit 0
