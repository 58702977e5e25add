#!/bin/sh
# The names of other projects, left out and put in: by component of one build, and by the option
# CAUSEWAY_IDENTITIES of another that is only configured, but for its small archives.
# Usage: identity_set.sh BUILD_DIR WORK_DIR SOURCE_DIR CC CXX
# Catches: a file under a name of GASNet's or GPI-2's packages that no option and no component leaves
# out; a component that lacks what its programs need; a set that is not obeyed; a mistake in it that
# nobody tells.
set -eu
build=$1 work=$2 source=$3 cc=$4 cxx=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
tree=$work/tree
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS GASNET_PSHM_NODES || true
fail() { tail -20 "$work/out" 2>/dev/null || true; echo "identity_set: $*"; exit 1; }
# Files of a tree under names that others have; pages about them lie in a folder of our own.
foreign() {
  (cd "$1" && find . ! -type d ! -path './share/doc/causeway/*') |
    grep -E '/gasnetrun_|/amudprun$|/gaspi_run$|libgasnet|gasnet_tools-|/gasnet-|-conduit/|GPI2|/everything/|share/causeway/gasnet/' || true
}
component() { cmake --install "$build" --prefix "$tree" --component "$1" >"$work/out" 2>&1 || fail "component $1 fails"; }

# ---- components: none, one, two ----
for part in runtime devel command gaspi gaspi-devel doc; do component $part; done
[ -z "$(foreign "$tree")" ] || fail "without any: $(foreign "$tree")"
[ -e "$tree/lib/libcauseway.so" ] && [ -e "$tree/lib/pkgconfig/causeway-gaspi.pc" ] || fail "the library itself is left out"
component identity-smp
[ -z "$(foreign "$tree" | grep -v smp)" ] || fail "smp brings: $(foreign "$tree" | grep -v smp)"
export PKG_CONFIG_PATH="$tree/lib/pkgconfig"
# shellcheck disable=SC2046 # flags are words
"$cc" "$here/started.c" -D_DEFAULT_SOURCE -pthread -o "$work/smp" $(pkg-config --cflags --libs gasnet-smp-par) || fail "a program of smp does not build"
timeout 60 "$tree/bin/gasnetrun_smp" -n 2 "$work/smp" >"$work/out" 2>&1 || fail "a program of smp fails"
[ "$(grep -c ' of 2, ' "$work/out")" = 2 ] || fail "a program of smp has not two ranks"
# A program of udp that was built elsewhere, without the launcher here: it says what is missing.
"$cc" "$here/started.c" -D_DEFAULT_SOURCE -pthread -D_GNU_SOURCE -DGASNET_PAR -DGASNET_CONDUIT_UDP=1 -I"$tree/include" \
  "$(find "$build/tools/identity/package" -maxdepth 1 -name libgasnet-udp-par.a)" -L"$tree/lib" -lcauseway \
  -Wl,-rpath,"$tree/lib" -o "$work/udp" || fail "a program of udp does not build"
timeout 60 "$work/udp" 2 >"$work/out" 2>&1 || fail "a program of udp needs its launcher for ranks here"
timeout 60 env GASNET_SSH_SERVERS=a "$work/udp" 2 >"$work/out" 2>&1 && fail "hosts are ignored without a launcher"
grep -q "cannot start '.*/amudprun'.*install it" "$work/out" || fail "a missing amudprun is not named"
component identity-gpi2
[ -z "$(foreign "$tree" | grep -vE 'smp|GPI2|gaspi_run')" ] || fail "gpi2 brings: $(foreign "$tree")"
for file in lib/libGPI2.so lib/pkgconfig/GPI2.pc bin/gaspi_run; do
  [ -e "$tree/$file" ] || fail "gpi2 lacks $file"
done

# ---- the option ----
configure() { # NAME SET
  cmake -S "$source" -B "$work/$1" -DBUILD_TESTING=OFF "-DCAUSEWAY_IDENTITIES=$2" "-DCMAKE_C_COMPILER=$cc" \
    "-DCMAKE_CXX_COMPILER=$cxx" >"$work/out" 2>&1
}
configure build none || fail "none is refused"
# A page of the manual, causeway-conduit.7, is ours: a conduit of theirs is a folder.
names='gasnetrun|amudprun|gaspi_run|libgasnet|gasnet_tools|GPI2|-conduit[/"]|causeway/gasnet'
left=$(find "$work/build" -name cmake_install.cmake -exec grep -lE "$names" {} + || true)
[ -z "$left" ] || fail "with none, something is left in $left"
configure build 'ofi, tools' || fail "'ofi, tools' is refused"
cmake --build "$work/build" --target tools/identity/all >"$work/out" 2>&1 || fail "the archives do not build"
cmake "-DCMAKE_INSTALL_PREFIX=$work/chosen" -P "$work/build/tools/identity/cmake_install.cmake" >"$work/out" 2>&1 || fail "the set is not installed"
others=$(foreign "$work/chosen" | grep -vE 'ofi|gasnet_tools|/everything/include/|share/causeway/gasnet/' || true)
[ -z "$others" ] || fail "'ofi, tools' installs $others"
for file in lib/libgasnet-ofi-par.a lib/libgasnet_tools-seq.a bin/gasnetrun_ofi; do
  [ -e "$work/chosen/$file" ] || fail "'ofi, tools' lacks $file"
done
# The adapter tree offers what there is.
(mkdir -p "$work/adapter" && cp -R "$tree/include" "$tree/lib" "$work/chosen" && cd "$work/adapter" &&
  "$work/chosen/share/causeway/gasnet/configure" --enable-udp) >"$work/out" 2>&1 && fail "the adapter tree enables udp without its files"
grep -q -e '--enable-udp: .* has no files for this conduit' "$work/out" || fail "the adapter tree does not say what is missing"
configure build 'ofi;smb' && fail "'smb' is accepted"
grep -q "CAUSEWAY_IDENTITIES names 'smb'" "$work/out" || fail "'smb' is not named"
exit 0
