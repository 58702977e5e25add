#!/bin/sh
# Builds the image that tools/packages/Containerfile describes, by buildah from roots of Debian that mmdebstrap
# makes, and runs programs in it as the user that it names, in a /dev/shm of 64 MiB, which is what containers get.
# Usage: container.sh SOURCE WORK CC CXX
# Would catch: a file of the sources that the build needs and the Containerfile does not copy; debugging symbols,
# package lists or more than 60 MB above Debian's image; a conduit that is asked for and not there, or there and not
# asked for; an image that runs as root or says another version; jobs that do not fit a container's /dev/shm.
set -eu
source=$1 work=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/files.sh"
skip() { echo "skipped: $*"; exit 77; }
for program in buildah mmdebstrap python3; do
  command -v $program >/dev/null || skip "$program is not installed (tools/packages.txt, group container)"
done
[ "$(id -u)" = 0 ] || skip "roots of Debian are made by root"
fail() { tail -30 "$work/out" 2>/dev/null || true; echo "container: $*"; exit 1; }

# ---- images in a store of the test's own: nothing that anybody else has is seen, or touched ----
driver=overlay
store() { buildah --root "$work/store" --runroot "$work/run" --storage-driver $driver "$@"; }
clean() {
  store rm --all >/dev/null 2>&1 || true
  store rmi --all --force >/dev/null 2>&1 || true
  umount "$work/store/overlay" 2>/dev/null || true # a mount of itself, which buildah leaves
  rm -rf "$work/store" "$work/run" "$work"/*.tar
}
[ ! -d "$work/store" ] || clean
rm -rf "$work"
mkdir -p "$work/program"
trap clean EXIT
trap 'exit 1' HUP INT TERM
if ! store from scratch >"$work/out" 2>&1; then
  rm -rf "$work/store" "$work/run"
  driver=vfs
  store from scratch >"$work/out" 2>&1 || skip "buildah has no store here: $(tail -n 1 "$work/out")"
fi

# root NAME OPTION...: an image as Debian's of that name.
root() {
  name=$1
  shift
  mmdebstrap --variant=minbase "$@" bookworm "$work/root.tar" >"$work/out" 2>&1 ||
    skip "no root of Debian can be made here: $(grep -m 1 '^E:' "$work/out" || tail -n 1 "$work/out")"
  container=$(store from scratch)
  store add "$container" "$work/root.tar" / >"$work/out" 2>&1 && store commit "$container" "$name" >"$work/out" 2>&1 ||
    fail "$name cannot be made"
  store rm "$container" >/dev/null
  rm "$work/root.tar"
}
root docker.io/library/debian:12 --include=ccache
root docker.io/library/debian:12-slim --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/share/locale/*'

# ---- the images: what was compiled before is not compiled again, on this machine or for the second one ----
copy_sources "$source" "$work/source"
cache=$(ccache -k cache_dir 2>/dev/null || echo "$work/ccache")
mkdir -p "$cache"
build() { # NAME OPTION...
  image=$1
  shift
  (cd "$work/source" && store build --isolation chroot --layers --pull-never -f tools/packages/Containerfile \
    --build-arg "JOBS=$(nproc)" -t "$image" "$@" .) >"$work/out" 2>&1 || fail "$image cannot be built"
}
build causeway-devel --target devel -v "$cache:/root/.cache/ccache"
build causeway
build causeway-small --build-arg CONDUITS=

# ---- small: what the layers above Debian's hold, not compressed ----
layers() { # IMAGE: the bytes of each layer, the lowest first
  rm -rf "$work/archive"
  store push "$1" "oci:$work/archive" >"$work/out" 2>&1 || fail "$1 cannot be written out"
  python3 - "$work/archive" <<'END'
import gzip, json, sys
def path(entry): return sys.argv[1] + "/blobs/" + entry["digest"].replace(":", "/")
manifest = json.load(open(path(json.load(open(sys.argv[1] + "/index.json"))["manifests"][0])))
for layer in manifest["layers"]:
    opened = gzip.open if layer["mediaType"].endswith("gzip") else open
    with opened(path(layer), "rb") as archive: print(sum(len(part) for part in iter(lambda: archive.read(1 << 20), b"")))
END
}
above() { layers "$1" | awk 'NR > 1 { sum += $1 } END { print sum + 0 }'; }
bytes=$(above causeway)
small=$(above causeway-small)
echo "above debian:12-slim: $bytes bytes, without networks $small"
[ "$bytes" -gt 1000000 ] && [ "$bytes" -le 60000000 ] || fail "$bytes bytes above Debian's image, not 1 to 60 MB"
[ "$small" -lt "$bytes" ] || fail "an image without networks is not smaller: $small bytes"

# ---- what it says of itself ----
version=$(sed -n 's/^project(Causeway VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
told() { store inspect --type image --format "$1" causeway; }
[ "$(told '{{.OCIv1.Config.User}}')" = causeway ] || fail "it runs as '$(told '{{.OCIv1.Config.User}}')'"
[ "$(told '{{.OCIv1.Config.Entrypoint}}')" = '[causeway]' ] || fail "its entry is $(told '{{.OCIv1.Config.Entrypoint}}')"
[ "$(told '{{index .OCIv1.Config.Labels "org.opencontainers.image.version"}}')" = "$version" ] ||
  fail "its label names another version than $version"

# ---- programs in it ----
first_program "$source" >"$work/program/hello.c"
devel=$(store from --pull-never causeway-devel)
# shellcheck disable=SC2016 # the container's shell
store run --isolation chroot -v "$work/program:/program" "$devel" -- sh -c \
  'cc hello.c $(pkg-config --cflags --libs causeway) -o hello' >"$work/out" 2>&1 || fail "the first program does not build"
# in_image IMAGE COMMAND...: as the image's user, in a /dev/shm as containers have it: chroot takes it from outside.
in_image() {
  container=$(store from --pull-never "$1")
  shift
  # shellcheck disable=SC2016 # the inner shell's words
  timeout -k 10 120 unshare --mount sh -c 'mount -t tmpfs -o size=64m,mode=1777 shm /dev/shm && exec "$@"' sh \
    buildah --root "$work/store" --runroot "$work/run" --storage-driver $driver run --isolation chroot \
    -v "$work/program:/program:ro" "$container" -- "$@" >"$work/out" 2>"$work/err" || { cat "$work/err"; fail "$* fails"; }
  store rm "$container" >/dev/null
}
in_image causeway id -un
[ "$(cat "$work/out")" = causeway ] || fail "programs run as $(cat "$work/out")"
in_image causeway df -k --output=size /dev/shm
[ "$(tail -n 1 "$work/out" | tr -d ' ')" = 65536 ] || fail "/dev/shm is not the one of 64 MiB: $(cat "$work/out")"
in_image causeway causeway version
grep -q "$version" "$work/out" || fail "causeway version says '$(cat "$work/out")'"
heard() { [ "$(sort "$work/out")" = "$(printf 'rank 0 heard from rank 1\nrank 1 heard from rank 0')" ] || fail "$1: the first program says otherwise"; }
in_image causeway causeway run -n 2 /program/hello
heard "over shared memory"
[ ! -s "$work/err" ] || fail "somebody speaks: $(cat "$work/err")"
in_image causeway causeway run -n 2 /usr/libexec/causeway/heat
for site in eth ofi-tcp ucx-tcp; do
  in_image causeway causeway run -n 2 --config /usr/share/causeway/configs/sites/$site.yaml /program/hello
  heard $site
done
in_image causeway causeway info
for conduit in shm eth ofi ucx verbs; do
  grep -q "conduit *$conduit " "$work/out" || fail "the image has no conduit $conduit"
done
[ ! -s "$work/err" ] || fail "causeway info complains: $(cat "$work/err")"
in_image causeway causeway info --failed
in_image causeway-small causeway run -n 2 /program/hello
heard "without networks"
in_image causeway-small causeway info
! grep -qE 'conduit *(eth|ofi|ucx|verbs) ' "$work/out" || fail "a conduit that was not asked for is there"
echo "container: all is well"
