#!/bin/sh
# Installs by component, below DESTDIR, and takes it away again; asks for components of the package.
# Usage: components.sh BUILD_DIR WORK_DIR TREE CC
# Would catch: a file that belongs to no component, or to two; a library that comes without its package; a
# DESTDIR that is not obeyed, or another tree there; an uninstallation that leaves a file, takes one that
# somebody added or one outside of DESTDIR; find_package(Causeway COMPONENTS gaspi) that fails, and a component
# that does not exist found.
set -eu
build=$1 work=$2 tree=$3 cc=$4
rm -rf "$work"
mkdir -p "$work"
fail() { tail -20 "$work/out" 2>/dev/null || true; echo "components: $*"; exit 1; }
list() { (cd "$1" && find . ! -type d | sort); }
list "$tree" >"$work/all"

# ---- below DESTDIR: the same tree ----
DESTDIR=$work/staged cmake --install "$build" --prefix /opt/cw >"$work/out" || fail "DESTDIR is refused"
list "$work/staged/opt/cw" | cmp -s - "$work/all" || fail "another tree below DESTDIR"
[ ! -e /opt/cw ] || fail "DESTDIR is not obeyed"
echo mine >"$work/staged/opt/cw/share/causeway/configs/mine.yaml"
uninstall() { cmake "-DBUILD=$build" -P "$(dirname "$0")/../../tools/cmake/causeway_uninstall.cmake" >"$work/out" 2>&1; }
DESTDIR=$work/nowhere uninstall && fail "an uninstallation below another DESTDIR says nothing"
tr -s ' \n' ' ' <"$work/out" | grep -q 'is DESTDIR' || fail "an uninstallation below another DESTDIR does not say why it fails"
list "$work/staged/opt/cw" | grep -v mine.yaml | cmp -s - "$work/all" || fail "uninstall took files outside of its DESTDIR"
DESTDIR=$work/staged uninstall || fail "the uninstallation fails"
uninstall && fail "the second uninstallation says nothing"
tr -s ' \n' ' ' <"$work/out" | grep -q 'nothing was installed from there' || fail "the second uninstallation does not say why it fails"
[ "$(list "$work/staged")" = ./opt/cw/share/causeway/configs/mine.yaml ] || fail "left: $(list "$work/staged")"
left=$(find "$work/staged" -mindepth 1 -type d -empty | grep -E '[Cc]auseway|-conduit' || true)
[ -z "$left" ] || fail "empty folders are left: $left"

# ---- each component once; what other tests build within the folder is theirs ----
components=$(grep -rhoE 'CMAKE_INSTALL_COMPONENT STREQUAL "[A-Za-z0-9_-]+"' --include=cmake_install.cmake \
  --exclude-dir=work "$build" |
  cut -d'"' -f2 | sort -u)
for component in $components; do
  cmake --install "$build" --prefix "$work/by/$component" --component "$component" >"$work/out" || fail "$component fails"
  [ ! -d "$work/by/$component" ] || list "$work/by/$component" >>"$work/parts"
done
rm -f "$build"/install_manifest*.txt
twice=$(sort "$work/parts" | uniq -d)
[ -z "$twice" ] || fail "in two components: $twice"
sort "$work/parts" | comm -3 - "$work/all" >"$work/other"
[ ! -s "$work/other" ] || fail "components differ from the whole by $(cat "$work/other")"
case " $(echo $components) " in *' Unspecified '*) fail "files of no component: $(list "$work/by/Unspecified")" ;; esac
for file in runtime/lib/libcauseway.so.0 runtime/lib/causeway/2/conduit_shm.so devel/lib/libcauseway.so \
  devel/include/gasnetex.h command/bin/causeway gaspi/lib/libcauseway_gaspi.so.0 gaspi-devel/include/GASPI.h \
  conduit-eth/lib/causeway/2/conduit_eth.so memkind-cuda/lib/causeway/2/memkind_cuda.so \
  doc/share/doc/causeway/conduit-api.md bench/libexec/causeway/causeway-bench identity-udp/bin/amudprun; do
  [ -e "$work/by/$file" ] || [ -L "$work/by/$file" ] || fail "no $file"
done

# ---- components of the package ----
find_package() { # NAME PREFIX WORDS
  mkdir -p "$work/asks-$1"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(asks LANGUAGES C)' "find_package(Causeway $3)" \
    'if(NOT Causeway_FOUND)' '  message(FATAL_ERROR "not found")' 'endif()' \
    'foreach(target causeway gaspi gaspi_fortran)' '  if(TARGET Causeway::${target})' '    message("has ${target}")' \
    '  endif()' 'endforeach()' >"$work/asks-$1/CMakeLists.txt"
  cmake -S "$work/asks-$1" -B "$work/asks-$1/build" "-DCMAKE_PREFIX_PATH=$2" "-DCMAKE_C_COMPILER=$cc" >"$work/out" 2>&1
}
find_package gaspi "$tree" '0.1 REQUIRED COMPONENTS gaspi' || fail "COMPONENTS gaspi is not found"
grep -q 'has gaspi$' "$work/out" || fail "COMPONENTS gaspi has no target"
find_package all "$tree" REQUIRED || fail "the package is not found without components"
grep -q 'has gaspi$' "$work/out" || fail "without components there is no target gaspi"
find_package other "$tree" 'REQUIRED COMPONENTS gasnet' && fail "component gasnet is found"
grep -q "has no component 'gasnet'" "$work/out" || fail "nobody says that there is no component gasnet"
# A tree of the library alone.
for component in runtime devel command; do cp -R "$work/by/$component/." "$work/alone"; done
find_package alone "$work/alone" 'REQUIRED COMPONENTS causeway OPTIONAL_COMPONENTS gaspi' || fail "the library alone is not found"
grep -q 'has causeway$' "$work/out" && ! grep -q 'has gaspi' "$work/out" || fail "the library alone has other targets"
find_package without "$work/alone" 'REQUIRED COMPONENTS gaspi' && fail "gaspi is found where it is not"
grep -q "installed without 'gaspi'" "$work/out" || fail "nobody says that gaspi is missing"
exit 0
