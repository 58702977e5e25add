#!/bin/sh
# Builds the runtime of tests/clients/configured over GASNet's adapter tree: as a directory that was
# installed, as a tarball that its own script makes, as one that tar makes, and over the installation
# itself; and runs what was built.
# Usage: configured.sh TREE WORK_DIR SOURCE_DIR CC CXX
# Catches: a tree that does not look bootstrapped or has no version; options, compilers or flags that
# configure does not pass on; a config.status without CONFIG_FILES; a Makefile that does not tell what
# it has; no launcher in other/amudp and contrib; conduits that nobody asked for; a tarball that needs
# its old place; flags without a library that clients call functions of; no header of a conduit.
set -eu
tree=$1 work=$2 source=$3 cc=$4 cxx=$5
client=$source/tests/clients/configured
rm -rf "$work"
mkdir -p "$work"
for name in $(env | sed -n 's/^\([A-Z_]*\)=.*/\1/p' | grep -E '^(CAUSEWAY|GASNET|AMUDP)_|^SSH_SERVERS$'); do
  unset "$name"
done
unset CC CXX CFLAGS CXXFLAGS || true
adapter=$tree/share/causeway/gasnet
fail() { tail -30 "$work/out" "$work/err" 2>/dev/null || true; echo "configured: $*"; exit 1; }
command -v make >/dev/null || { echo "configured: no make here, nothing is tried"; exit 0; }
run() { timeout 200 "$@" >"$work/out" 2>"$work/err" </dev/null; }
# configure DIRECTORY OPTIONS...
configure() {
  mkdir -p "$work/$1"
  directory=$work/$1
  shift
  (cd "$directory" && run "$client/configure" "$@") || fail "configure $* fails"
}
good() { # RANKS NORM CHECKED
  [ "$(grep -cE "^rank [0-9]* of $1: norm $2, checked $3\$" "$work/out")" = "$1" ] || fail "wrong output"
}

# Compilers that tell that they were called, and with the flags that were asked for.
for name in cc cxx; do
  real=$cc
  [ $name = cc ] || real=$cxx
  printf '%s\n' '#!/bin/sh' "echo \"\$*\" >>'$work/$name.log'" "exec $real \"\$@\"" >"$work/$name"
  chmod +x "$work/$name"
done

# ---- the directory, two conduits by default, each mode and kind ----
configure directory "--with-gasnet=$adapter" "--with-cc=$work/cc" "-with-cxx=$work/cxx" \
  --with-cflags='-O1 -g' --with-cxxflags="-O1 -DQUOTED='1'"
grep -qx 'CONDUITS = smp udp' "$work/directory/settings.mak" || fail "other conduits than smp and udp: $(cat "$work/directory/settings.mak")"
grep -qxE 'CC_FAMILY = (GNU|CLANG)' "$work/directory/settings.mak" || fail "CONFIG_FILES is not filled in"
run make -C "$work/directory" || fail "the runtime does not build"
for language in cc cxx; do
  grep -q -e "-O1.*main-udp-par-debug\|-O1.*cxx-udp-par-debug" "$work/$language.log" || fail "--with-$language or its flags are not passed on"
done
cd "$work/directory"
run env GASNET_PSHM_NODES=3 ./c-smp-seq-opt || fail "c-smp-seq-opt fails"
good 3 3.464 0
run ./cxx-udp-par-debug 4 1 || fail "cxx-udp-par-debug fails"
good 4 2.000 1
run gasnet.opt/other/amudp/amudprun -np 2 ./c-udp-seq-opt 3 || fail "amudprun of the build tree fails"
good 2 4.243 0
run gasnet.debug/smp-conduit/contrib/gasnetrun_smp -n 2 ./cxx-smp-par-debug 3 || fail "gasnetrun_smp of the build tree fails"
good 2 4.243 1
(cd gasnet.opt && run ./config.status --recheck) || fail "--recheck loses words"
grep -q '^GASNET_OPT_CFLAGS = -O1 -g$' gasnet.opt/smp-conduit/smp-seq.mak || fail "--recheck loses flags"

# ---- tarballs: unpacked where nothing lies beside them ----
(cd "$work" && run "$adapter/make-tarball" "GASNet-7.tar.gz") || fail "make-tarball fails"
configure tarball "--with-gasnet=$work/GASNet-7.tar.gz" CC="$cc" CXX="$cxx" --disable-udp --enable-ofi --disable-par
grep -qx 'CONDUITS = smp ofi' "$work/tarball/settings.mak" || fail "--disable-udp or --enable-ofi is not passed on"
run make -C "$work/tarball" gasnet KIND=opt CONDUIT=ofi MODE=seq || fail "make of ofi fails"
run make -C "$work/tarball" one KIND=opt CONDUIT=ofi MODE=seq || fail "the runtime does not build from a tarball"
run "$work/tarball/gasnet.opt/ofi-conduit/contrib/gasnetrun_ofi" -n 2 "$work/tarball/c-ofi-seq-opt" || fail "c-ofi-seq-opt fails"
good 2 2.828 0
run tar -czf "$work/gasnet.tar.gz" -C "$(dirname "$adapter")" gasnet || fail "tar fails"
configure plain "--with-gasnet=$work/gasnet.tar.gz" CC="$cc" CXX="$cxx" "--with-causeway=$tree" || fail "a plain tarball fails"
(mkdir "$work/lost" && cd "$work/lost" && run env PATH=/usr/bin:/bin PKG_CONFIG_LIBDIR=/nowhere "$work/plain/unpacked/gasnet/configure") &&
  fail "a tree that was moved finds a library"
grep -q 'give --with-causeway=PREFIX' "$work/err" || fail "a tree that was moved does not say what to do"
(cd "$work/lost" && run env PATH="$tree/bin:/usr/bin:/bin" "$work/plain/unpacked/gasnet/configure" CC="$cc" CXX="$cxx") ||
  fail "the library is not found through PATH"
# Such a copy may be configured where it is.
(cd "$work/plain/unpacked/gasnet" && run ./configure "--with-causeway=$tree" && run make seq) || fail "a copy is not its own build tree"
[ -e "$work/plain/unpacked/gasnet/smp-conduit/libgasnet-smp-seq.a" ] || fail "a copy has no library"

# ---- the installation: the conduit's own header, and all libraries ----
for conduit in ibv udp; do
  configure "prefix-$conduit" "--with-gasnet-prefix=$tree" "--with-gasnet-conduit=$conduit"
  run make -C "$work/prefix-$conduit" one KIND=opt CONDUIT=$conduit MODE=par || fail "the runtime does not build over $conduit"
done
run "$work/prefix-udp/c-udp-par-opt" 3 || fail "c-udp-par-opt fails"
good 3 3.464 0
exit 0
