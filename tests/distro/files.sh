# Sourced by the scripts of this folder.

# copy_sources SOURCE TO: the files of the tree, without what was built in it.
copy_sources() {
  mkdir -p "$2"
  (cd "$1" && . tests/style/files.sh && list_files | tar -cf - -T -) | tar -xf - -C "$2"
}

# first_program SOURCE: the program in C that the README begins with.
first_program() {
  awk '/^```c$/ { inside = 1; next } /^```/ { if (inside) exit } inside' "$1/README.md"
}
