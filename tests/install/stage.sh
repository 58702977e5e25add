#!/bin/sh
# Installs the build into one directory and moves the result to another, so that everything the
# other install tests do also proves that an installed tree may be moved.
# Usage: stage.sh BUILD_DIR WORK_DIR SOURCE_DIR
# Catches: a header, plugin or package file that nobody installs; an absolute path of the build
# or source tree in an installed file; a run path that leaves the tree.
set -eu
build=$1 work=$2 source=$3
tree=$work/tree
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/stage" >"$work/install.log"
mv "$work/stage" "$tree"

status=0
complain() { echo "install: $*"; status=1; }

for file in include/gasnetex.h include/gasnet_fwd.h bin/causeway \
  include/causeway/plugin.h include/causeway/conduit.h include/causeway/operations.h include/causeway/experimental.h include/causeway/entry_lock.h include/causeway/memkind.h \
  include/causeway/collective.h include/causeway/direct.h include/causeway/am_calls.h \
  include/causeway/bindings.h share/doc/causeway/gasnet-python.md share/doc/causeway/gasnet-fortran.md \
  lib/libcauseway.so lib/causeway/2/conduit_self.so lib/causeway/2/conduit_shm.so \
  lib/causeway/2/memkind_cuda.so lib/causeway/2/memkind_hip.so lib/causeway/2/memkind_ze.so \
  include/gasnet_mk.h share/causeway/example/memkind_attic.c \
  lib/cmake/Causeway/CausewayConfig.cmake lib/cmake/Causeway/CausewayConfigVersion.cmake \
  lib/pkgconfig/causeway.pc lib/pkgconfig/gasnet-smp-seq.pc lib/libgasnet-ofi-par.a \
  bin/gaspi_run lib/pkgconfig/causeway-gaspi.pc lib/libGPI2.so \
  share/causeway/fortran/GASPI_C_BINDING.f90 share/causeway/fortran/gaspi_types.f90 \
  share/causeway/fortran/gaspi.f90 \
  lib/causeway/everything/lib/pkgconfig/gasnet-udp-par.pc \
  lib/causeway/everything/include/gasnet.h share/causeway/gasnet/configure \
  share/causeway/gasnet/gasnetex.h share/causeway/gasnet/gasnet_config.h.in \
  share/causeway/gasnet/docs/GASNet-EX.txt include/ofi-conduit/gasnet_core.h include/ibv-conduit/ibv-par.mak bin/gasnetrun_udp bin/amudprun \
  libexec/causeway/causeway-conformance \
  share/causeway/configs/default.yaml share/causeway/configs/sites/am-only.yaml \
  share/causeway/example/conduit_uds.c share/causeway/example/simnic/plugin.cpp share/causeway/example/collective/collective_linear.c \
  share/causeway/bench/mpi_collectives.c share/doc/causeway/LICENSE share/doc/causeway/conduit-api.md
do
  [ -e "$tree/$file" ] || complain "$file is not installed"
done

# Every plugin of the build is an installed plugin, and nothing else is.
for plugin in "$tree"/lib/causeway/2/*; do
  case $(basename "$plugin") in
    conduit_*.so | memkind_*.so | collective_*.so) ;;
    *) complain "$plugin is no plugin" ;;
  esac
done

# Paths: text files as they are, binaries without debug information, which names sources.
find "$tree" -type f | while read -r file; do
  plain=$file
  if [ "$(head -c 4 "$file" | tr -d '\177')" = ELF ]; then
    plain=$work/stripped
    objcopy --strip-debug "$file" "$plain"
  fi
  for path in "$build" "$source" "$work"; do
    if grep -qF -- "$path" "$plain"; then echo "install: ${file#"$tree"/} holds $path"; fi
  done
done >"$work/paths.log"
if [ -s "$work/paths.log" ]; then cat "$work/paths.log"; status=1; fi

for file in "$tree"/bin/* "$tree"/lib/*.so.* "$tree"/lib/causeway/2/*.so "$tree"/libexec/causeway/*
do
  [ -e "$file" ] || continue
  readelf -d "$file" 2>/dev/null | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p' | tr : '\n' |
    while read -r dir; do
      # What pkg-config names for a package of the distribution stays where that put it.
      # shellcheck disable=SC2016 # the word the dynamic linker expands
      case $dir in '' | '$ORIGIN' | '$ORIGIN/'* | /usr/lib/*) ;; *) echo "$(basename "$file") looks in $dir" ;; esac
    done
done >"$work/runpath.log"
if [ -s "$work/runpath.log" ]; then cat "$work/runpath.log"; status=1; fi
exit $status
