# Sourced by the scripts of this folder.

# copy_sources SOURCE TO: the files of the tree, without what was built in it.
copy_sources() {
  mkdir -p "$2"
  (cd "$1" && . tests/style/files.sh && list_files | tar -cf - -T -) | tar -xf - -C "$2"
}
