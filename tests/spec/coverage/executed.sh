#!/bin/sh
# Which names of the specifications do the suites run, and not only mention? Builds the suites so that
# they count their lines, runs them, and has spec_coverage look at names on lines that ran alone.
# Usage: executed.sh SOURCE_DIR BUILD_DIR [CTEST_EXPRESSION]
# Catches: a name whose only test is code that no test runs.
set -eu
source=$(cd "$1" && pwd) build=$2 tests=${3:-^spec\\.}
jobs=$(nproc)
mkdir -p "$build"
cd "$build"
cmake -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCAUSEWAY_DEBUG_INFO=1 -DBUILD_TESTING=ON \
  -DCAUSEWAY_SPEC_COUNTS=ON "$source" >configure.log
ninja -j "$jobs" >build.log || { tail -n 30 build.log; exit 1; }
find . -name '*.gcda' -delete
ctest -R "$tests" -E coverage -j "$jobs" --timeout 600 >tests.log || grep -E 'Failed|Timeout' tests.log || true
# Lines "count:line:text" of each source, in as many objects as compile it; '-' is no code, '#####'
# has not run.
find . -name '*.gcda' | sort | while read -r counts; do
  gcov -t "$counts" 2>/dev/null | awk -F: '
    $3 == "Source" { file = $4; sub("^.*/tests/spec/", "tests/spec/", file) }
    file ~ "^tests/spec/" && $2 + 0 > 0 {
      gsub(" ", "", $1)
      print file ":" $2 + 0 " " ($1 == "-" ? "-" : $1 ~ /^[0-9]/ ? "ran" : "not")
    }'
done | sort -u >lines.txt
lists=$(ls "$source"/tests/spec/coverage/*.txt | grep -v CMakeLists)
sources=$(find "$source/tests/spec" -name '*.cpp' -o -name '*.c' -o -name '*.h' |
  grep -v -e /coverage/ -e /fortran/)
# shellcheck disable=SC2086
"$(find . -name spec_coverage -type f)" --names $lists --tests $sources --ran lines.txt \
  --compiled "$source/tests/spec/coverage/compiled.list" --out spec-executed.md
