#!/bin/sh
# Makes a bundle, moves it, and runs it with an empty environment.
# Usage: bundle.sh SOURCE_DIR BUILD_DIR WORK_DIR
# Catches: a library that is found only on the machine that built it, an absolute path, a plugin or
# test that was left behind.
set -eu
source=$1 build=$2 work=$3
command -v patchelf >/dev/null || { echo "skipped: patchelf is not installed"; exit 77; }
newest=$(printf '%s\n' 2.36 "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -V | tail -n 1)
[ "$newest" = 2.36 ] || { echo "skipped: bundles are made where glibc is 2.36 or older, here it is $newest"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
"$source/tools/bundle" "$work/made" "$build"
mv "$work/made" "$work/moved"
home=$work/moved
find "$home" -type f \( -perm -u+x -o -name '*.so*' \) ! -name '*.a' | while read -r f; do
  env -i ldd "$f" 2>/dev/null | grep -vE "$home|linux-vdso|ld-linux|lib(c|m|dl|pthread|rt|resolv)\.so" |
    grep -E '=>' | grep -vE 'lib(cuda|amdhip64|ze_loader)' | sed "s|^|$f needs|"
done >"$work/strangers"
if [ -s "$work/strangers" ]; then
  head "$work/strangers"
  echo "bundle: libraries from outside of the folder"
  exit 1
fi
cd /
clean() { env -i PATH=/usr/bin:/bin HOME=/nowhere "$@"; }
clean "$home/bin/causeway" info >/dev/null
clean "$home/bin/causeway" explain -n 2 --memkind >/dev/null
for program in spec_mk_seq spec_mk_par; do
  clean SPEC_MK=cuda LD_LIBRARY_PATH="$home/libexec/causeway/tests/standins/cuda" \
    "$home/bin/causeway" run -n 2 --timeout 100 -- "$home/libexec/causeway/tests/$program" \
    >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
done
grep -q ' 0 failed' "$work/out"
