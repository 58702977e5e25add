#!/bin/sh
# Follows the tutorial of conduit-api/README.md ("Writing a conduit") word for word against an
# installed tree: files are written as their blocks stand there, commands run in their order.
# Usage: tutorial.sh README TREE WORK_DIR CC
# Catches: a tutorial that a reader cannot follow to a passing check-plugin.
set -eu
readme=$1 tree=$2 work=$3
export CC="$4" P="$tree"
rm -rf "$work"
mkdir -p "$work/empty"
unset CAUSEWAY_CONFIG CAUSEWAY_SET CAUSEWAY_RANKS || true

# The section's blocks: ```<language> <file> goes to the end of the file, ```sh to the commands.
awk -v out="$work/empty/" -v commands="$work/commands" '
  /^## / { inside = /^## 13\. Writing a conduit/ }
  !inside { next }
  /^```/ {
    if (target != "") { close(target); target = ""; next }
    n = split($0, words, " ")
    if (words[1] == "```sh") target = commands
    else if (n == 2) target = out words[2]
    else { print "tutorial: a block of no file: " $0; exit 1 }
    next
  }
  target != "" { print >>target }
' "$readme"

for file in CMakeLists.txt conduit_acme.c acme.yaml; do
  [ -s "$work/empty/$file" ] || { echo "tutorial: no block is for $file"; exit 1; }
done
[ "$(grep -c 'causeway check-plugin ' "$work/commands")" -ge 1 ] || {
  echo "tutorial: no command runs check-plugin"
  exit 1
}
(cd "$work/empty" && sh -eux "$work/commands") >"$work/log" 2>&1 || {
  cat "$work/log"
  echo "tutorial: a command fails"
  exit 1
}
if grep -E 'warning:' "$work/log"; then echo "tutorial: the compiler warns"; exit 1; fi
grep -Eq '^conduit acme 0\.1 .*: [1-9][0-9]* passed, 0 failed' "$work/log" || {
  cat "$work/log"
  echo "tutorial: the suite did not say that all is well"
  exit 1
}
grep -q 'acme' "$work/log"
