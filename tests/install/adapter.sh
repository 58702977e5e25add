#!/bin/sh
# Does with the adapter tree what UPC++'s configure and build do with GASNet's: configures it, reads
# versions as text, has templates filled in, makes the conduits, includes the fragments, builds with
# what they say and starts the programs; then everything once more from the configured tree, and for
# debugging and EVERYTHING.
# Usage: adapter.sh TREE WORK_DIR CC CXX
# Catches: sources that are taken for a configured tree; a configure that refuses options meant for the
# real one, or writes into its sources; fragments that do not compile or link; variables left in a
# template; a tree that names another place.
set -eu
tree=$1 work=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
source=$tree/share/causeway/gasnet
rm -rf "$work"
mkdir -p "$work"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS GASNET_PSHM_NODES GASNET_MAX_SEGSIZE || true
fail() { cat "$work/log" 2>/dev/null || true; echo "adapter: $*"; exit 1; }
command -v make >/dev/null || { echo "adapter: no make here, the adapter tree is not tried"; exit 0; }

[ ! -e "$source/gasnet_config.h" ] || fail "the sources look like a tree that was configured"
before=$(find "$source" | sort | cksum)
configure() { # DIRECTORY OPTIONS...
  mkdir -p "$work/$1"
  directory=$work/$1
  shift
  (cd "$directory" && "$source/configure" "$@") >"$work/log" 2>&1 || fail "configure $* fails in $directory"
}
# What a UPC++ build passes, and what it might.
configure opt --prefix="$work/installed" CC="$cc" CXX="$cxx" --enable-seq --enable-par --enable-pthreads \
  --disable-parsync --disable-segment-everything --disable-aligned-segments --disable-debug \
  --enable-udp --disable-mpi --with-max-segsize=128MB/P --without-multiconf --disable-ucx \
  -enable-ofi --enable-ibv=probe
build=$work/opt
[ "$(find "$source" | sort | cksum)" = "$before" ] || fail "configure wrote into its sources"
[ -e "$build/Makefile" ] && [ -x "$build/config.status" ] || fail "no Makefile or config.status"
[ ! -e "$build/mpi-conduit" ] || fail "--disable-mpi is ignored"
[ ! -e "$build/smp-conduit/smp-parsync.mak" ] || fail "--disable-parsync is ignored"

# ---- the versions, as text ----
for file in gasnet_config.h include/gasnet_config.h; do
  minor=$(sed -n 's/.*EX_SPEC_VERSION_MINOR \([0-9]*\).*/\1/p' "$build/$file")
  major=$(sed -n 's/.*EX_SPEC_VERSION_MAJOR \([0-9]*\).*/\1/p' "$build/$file")
  [ "$major" = 0 ] && [ "$minor" -ge 10 ] || fail "$file: no version ($major.$minor)"
done

# ---- templates ----
printf '%s\n' 'perl=@PERL@ conduits=@CONDUITS@ exe=@EXESUFFIX@|' \
  'cc=@CC_FAMILY@/@CC_SUBFAMILY@ cxx=@CXX_FAMILY@/@CXX_SUBFAMILY@ @NOT_ONE@' >"$work/template.in"
(cd "$build" && ./config.status --file="$work/filled:$work/template.in") || fail "config.status fails"
(cd "$build" && ./config.status --silent --file=- <"$work/template.in" >"$work/filled2") || fail "config.status - fails"
cmp -s "$work/filled" "$work/filled2" || fail "config.status writes two things"
grep -q 'exe=|' "$work/filled" || fail "EXESUFFIX is not empty"
grep -qE '^perl=.*perl.* conduits=smp udp ibv ofi exe' "$work/filled" || { cat "$work/filled"; fail "PERL or CONDUITS"; }
grep -qE '^cc=(GNU|CLANG)/none cxx=(GNU|CLANG)/none @NOT_ONE@$' "$work/filled" || { cat "$work/filled"; fail "families"; }
# As older builds ask: in a variable, several, in a folder that is not there yet.
(cd "$build" && CONFIG_FILES="new/filled:$work/template.in again:$work/template.in" ./config.status) || fail "CONFIG_FILES fails"
cmp -s "$work/filled" "$build/new/filled" && cmp -s "$work/filled" "$build/again" || fail "CONFIG_FILES writes something else"
rm -r "$build/new" "$build/again"
(cd "$build" && ./config.status --file="$work/none:$work/nothing.in" 2>/dev/null) && fail "a missing template is filled in"

# ---- the conduits, then programs with their fragments ----
for conduit in smp udp ibv ofi; do
  make -C "$build" "$conduit-conduit" >"$work/log" 2>&1 || fail "make $conduit-conduit fails"
  [ -e "$build/$conduit-conduit/libgasnet-$conduit-par.a" ] || fail "make $conduit-conduit made no library"
done
make -C "$build/smp-conduit" seq par >"$work/log" 2>&1 || fail "make seq par fails"
program() { # BUILD_TREE NAME: like UPC++, in C and C++, with everything from the fragment
  for language in C CXX; do
    compile='$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS)' file=client.c
    [ $language = C ] || { compile='$(GASNET_CXX) $(GASNET_CXXCPPFLAGS) $(GASNET_CXXFLAGS)'; file=client.cpp; }
    printf '%s\n' "include $1/${2%-*}-conduit/$2.mak" 'client: FILE' \
      "	$compile FILE -o \$@ \$(GASNET_LDFLAGS) \$(GASNET_LIBS)" | sed "s/FILE/$file/" >"$work/Makefile"
    cp "$here/$3" "$work/$file"
    rm -f "$work/client"
    make -C "$work" client >"$work/log" 2>&1 || fail "$2 does not build ($language)"
  done
}
runs() { # LAUNCHER PROGRAM ARGUMENTS...
  timeout 100 "$@" >"$work/out" 2>"$work/log" || { cat "$work/out"; fail "$* fails"; }
  [ "$(grep -c ' of 3: .*ok$' "$work/out")" = 3 ] || { cat "$work/out"; fail "$*: wrong output"; }
}
program "$build" smp-seq identity.c
runs env GASNET_PSHM_NODES=3 "$work/client"
program "$build" udp-par identity.c
runs "$tree/bin/amudprun" -np 3 "$work/client"

# ---- installed into a prefix of the build's own ----
make -C "$build" install >"$work/log" 2>&1 || fail "make install fails"
for file in include/gasnetex.h include/smp-conduit/smp-par.mak lib/libgasnet-udp-seq.a bin/gasnetrun_smp; do
  [ -e "$work/installed/$file" ] || fail "make install leaves out $file"
done
program "$work/installed/include" smp-par identity.c
runs "$work/installed/bin/gasnetrun_smp" -n 3 "$work/client"

# Its .pc files say the same, and name their place as a reader needs it that knows no pcfiledir.
grep -q pcfiledir "$work/installed/lib/pkgconfig/gasnet-udp-seq.pc" && fail "a .pc file of the prefix depends on where it lies"
# shellcheck disable=SC2046 # flags are words
"$cc" "$here/identity.c" -o "$work/client" $(PKG_CONFIG_PATH="$work/installed/lib/pkgconfig" pkg-config --cflags --libs gasnet-udp-seq) \
  >"$work/log" 2>&1 || fail "the .pc file of the prefix does not build a program"
runs "$work/client" 3

# ---- debugging: checks are on, whatever file says nothing of them ----
configure debug CC="$cc" CXX="$cxx" --enable-debug --enable-segment-large
make -C "$work/debug" smp-conduit >"$work/log" 2>&1 || fail "make smp-conduit fails"
for file in smp-seq.mak gasnet-smp-seq.pc; do
  [ "$(grep -c '^GASNET_DEFINES.*-DGASNET_CONDUIT_SMP=1 -DGASNET_DEBUG=1 -DGASNET_SEGMENT_LARGE=1' "$work/debug/smp-conduit/$file")" = 1 ] ||
    fail "$file of a debugging build does not say so"
done
printf '%s\n' '#include <gasnetex.h>' '#ifndef GASNET_DEBUG' '#error no debugging' '#endif' \
  '#ifndef GASNET_SEGMENT_LARGE' '#error not LARGE' '#endif' \
  'int main(int argc, char** argv) { gex_Client_t c; gex_EP_t e; gex_TM_t t; char x = 0;' \
  'gex_Client_Init(&c, &e, &t, "DEBUG", &argc, &argv, 0); gex_RMA_PutBlocking(t, 7, &x, &x, 1, 0); gasnet_exit(0); }' \
  >"$work/mistake.c"
printf '%s\n' "include $work/debug/smp-conduit/smp-seq.mak" 'mistake: mistake.c' \
  '	$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) mistake.c -o $@ $(GASNET_LDFLAGS) $(GASNET_LIBS)' >"$work/Makefile"
make -C "$work" mistake >"$work/log" 2>&1 || fail "a debugging program does not build"
"$work/mistake" >"$work/out" 2>"$work/log" && fail "GASNET_DEBUG checks nothing"
grep -q 'rank 7 does not exist' "$work/log" || fail "GASNET_DEBUG: no diagnosis"
CAUSEWAY_SET=checks=none "$work/mistake" >"$work/out" 2>"$work/log" || true
grep -q 'rank 7 does not exist' "$work/log" && fail "CAUSEWAY_SET=checks=none is weaker than GASNET_DEBUG"

# ---- every address in reach ----
configure all CC="$cc" CXX="$cxx" --enable-segment-everything --enable-ofi
[ ! -e "$work/all/smp-conduit" ] || fail "smp promises memory that is not mapped"
make -C "$work/all" udp-conduit ofi-conduit >"$work/log" 2>&1 || fail "make udp-conduit fails"
program "$work/all" udp-seq everything.c
runs "$tree/bin/gasnetrun_udp" -n 3 "$work/client"
strings -a "$work/client" | grep -qF '$GASNetSegment: GASNET_SEGMENT_EVERYTHING $' || fail "no ident of EVERYTHING"

# ---- the configured tree, given instead of the sources: what was said of it still holds ----
make -C "$build" clean >"$work/log" 2>&1 || fail "make clean fails"
make -C "$build" udp-conduit >"$work/log" 2>&1 || fail "make after clean fails"
(cd "$build" && ./config.status --recheck) >"$work/log" 2>&1 || fail "config.status --recheck fails"
[ -e "$build/ofi-conduit" ] || fail "--recheck forgets -enable-ofi"
[ ! -e "$build/mpi-conduit" ] || fail "--recheck forgets options"
make -C "$build" distclean >"$work/log" 2>&1 || fail "make distclean fails"
[ -z "$(ls -A "$build")" ] || { ls -A "$build"; fail "make distclean leaves something"; }
(cd "$source" && ./configure) >"$work/log" 2>&1 && fail "configure runs in its own sources"
(mkdir -p "$work/none" && cd "$work/none" && "$source/configure" --disable-smp --enable-udp=no) >"$work/log" 2>&1 && fail "no conduit is accepted"
grep -q 'no conduit is left; --enable- one of: smp udp mpi ibv ofi ucx' "$work/log" || fail "no conduit is left, and nobody says so"
(mkdir -p "$work/odd" && cd "$work/odd" && "$source/configure" --nonsense) >"$work/log" 2>&1 && fail "--nonsense is accepted"
exit 0
