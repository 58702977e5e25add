#!/bin/sh
# Builds one client from the installed tree, by the client's own means: its CMakeLists.txt, its
# Makefile, or its build.sh, whichever stands in its folder, in a copy of that folder.
# Usage: build.sh SOURCE TREE WORK CC CXX [IDENTITY]
# A client learns from the environment what its user would tell it: PREFIX, IDENTITY, CC, CXX; pkg-config
# finds the tree, and so does CMake. It leaves its program in the folder, under the folder's name.
# Catches: flags of an identity that do not compile or link a client, headers with warnings at
# -Wall -Wextra -pedantic in any of the modes and languages that the clients have.
set -eu
source=$1 PREFIX=$2 work=$3 CC=$4 CXX=$5 IDENTITY=${6:-}
name=$(basename "$source")
rm -rf "$work"
mkdir -p "$(dirname "$work")"
cp -R "$source" "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS || true
PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig CMAKE_PREFIX_PATH=$PREFIX
export PREFIX IDENTITY CC CXX PKG_CONFIG_PATH CMAKE_PREFIX_PATH
cd "$work"

by_own_means() {
  if [ -x build.sh ]; then
    ./build.sh
  elif [ -e CMakeLists.txt ]; then
    cmake -S . -B made -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$work" && cmake --build made
  else
    make
  fi
}
by_own_means >build.log 2>&1 || { cat build.log; echo "clients: $name does not build"; exit 1; }
[ -x "$name" ] || { cat build.log; echo "clients: the build of $name leaves no program $name"; exit 1; }
if grep -i 'warning' build.log; then echo "clients: the build of $name warns"; exit 1; fi
