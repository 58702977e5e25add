#!/bin/sh
# style.arrows fails where it should: on small trees of its own.
# Usage: arrows_test.sh SOURCE_DIR
set -eu
style=$1/tests/style
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tests/style" "$tree/core/low" "$tree/core/high" "$tree/plugins/conduit/one" \
  "$tree/plugins/conduit/two"
cp "$style/arrows.awk" "$tree/tests/style"
printf '%s\n' 'core/low core/high' 'plugins/*/* only plugins/*/common' >"$tree/tests/style/rooms.order"
: >"$tree/core/high/roof.h"
: >"$tree/core/low/floor.h"
: >"$tree/plugins/conduit/one/part.h"
status=0

# expect WORDS: the test's answer has these words; without any, it finds nothing.
expect() {
  answer=$("$style/arrows.sh" "$tree" 2>&1) && passed=yes || passed=no
  case $passed/${1:+words} in
    yes/) return ;;
    no/words) case $answer in *"$1"*) return ;; esac ;;
  esac
  echo "arrows_test: expected '${1:-no complaint}' and got '$answer'"
  status=1
}

echo '#include "low/floor.h"' >"$tree/core/high/house.cpp"
expect
echo '#include "high/roof.h"' >"$tree/core/low/cellar.cpp"
expect 'core/low/cellar.cpp -> core/high/roof.h goes up'
echo '  #  include <high/roof.h>' >"$tree/core/low/cellar.cpp"
expect 'core/low/cellar.cpp -> core/high/roof.h goes up'
echo '#include "floor.h"' >"$tree/core/low/cellar.cpp"
expect
echo '#include "../one/part.h"' >"$tree/plugins/conduit/two/part.cpp"
expect 'plugins/conduit/two/part.cpp -> plugins/conduit/one/part.h goes up'
rm "$tree/plugins/conduit/two/part.cpp"
mkdir "$tree/core/shed"
: >"$tree/core/shed/spade.cpp"
echo '#include "low/floor.h"' >"$tree/core/shed/spade.cpp"
expect 'core/shed/spade.cpp stands in no room'
exit $status
