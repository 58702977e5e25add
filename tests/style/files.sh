# Sourced by the scripts of this folder.

# The files of the tree that lies in the working directory: in a clone, what git knows; in an unpacked
# archive, what is there.
list_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files; else
    find . -type f ! -path './build*' ! -path './.git/*' | sed 's|^\./||'
  fi
}
