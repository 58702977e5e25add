#!/bin/bash
# Runs a bundle on a system that has nothing but the C library, a shell and a few small programs.
# Usage: bundle_bare.sh BUNDLE WORK_DIR
# Catches: a library, a tool or a file of the building machine's that the bundle needs and leaves
# behind; bundle.sh beside it lists libraries, this one has no others to find. Needs root (chroot).
set -eu
home=$1 work=$2
skip() { echo "skipped: $*"; exit 77; }
[ -x "$home/run-tests" ] || skip "there is no bundle at $home"
[ "$(id -u)" = 0 ] || skip "chroot needs root"
unshare --mount true 2>/dev/null || skip "no mount namespaces here"
root=$work/root
rm -rf "$root"
mkdir -p "$root/bin" "$root/usr/bin" "$root/proc" "$root/dev" "$root/tmp" "$root/bundle" "$root/etc"
chmod 1777 "$root/tmp"
echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
take() { # a program, and what it is linked with
  cp -L "$1" "$root/bin/"
  ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}
for program in sh dirname env rm mkdir mktemp date head tail grep sed; do take "$(readlink -f "$(command -v $program)")"; done
[ -e "$root/bin/sh" ] || mv "$root/bin/dash" "$root/bin/sh"
# The rest of the C library: what no linker names may still be asked for.
library=$(dirname "$(ldd /bin/sh | grep -o '/[^ ]*libc\.so[^ ]*')")
for name in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libnss_files.so.2; do
  [ ! -e "$library/$name" ] || cp -L "$library/$name" "$root$library/"
done
# A process of its own for what is mounted: nothing stays.
bare() {
  unshare --mount sh -c '
    root=$1; bundle=$2; shift 2
    mount --make-rprivate / && mount --bind "$bundle" "$root/bundle" &&
    mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 77
    exec chroot "$root" /bin/env -i PATH=/bin HOME=/ "$@"' sh "$root" "$home" "$@"
}
bare /bundle/bin/causeway info >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
bare /bundle/run-tests >"$work/out" 2>&1 || { tail -40 "$work/out"; exit 1; }
grep -q 'every step ended well' "$work/out" || { cat "$work/out"; exit 1; }
grep -c '^ok .* 0 failed' "$work/out" | grep -qx 10 || { cat "$work/out"; exit 1; }
# Without a device: a reason, and the status that means skipped.
status=0
bare /bundle/run-tests --gpu >"$work/out" 2>&1 || status=$?
[ "$status" = 77 ] && grep -q 'no NVIDIA device here' "$work/out" || { cat "$work/out"; exit 1; }
