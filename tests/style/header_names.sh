#!/bin/sh
# Catches a file, in a folder where <...> is looked for, under the name of a header of the C++ library:
# newer libraries include more of them (<format> since g++ 14), and would get that file.
# Usage: header_names.sh SOURCE_DIR COMPILE_COMMANDS
set -eu
source=$1 commands=$2
names='algorithm|any|array|atomic|barrier|bit|bitset|charconv|chrono|codecvt|compare|complex|concepts|coroutine|
deque|exception|execution|expected|filesystem|format|forward_list|fstream|functional|future|generator|
initializer_list|iomanip|ios|iostream|istream|iterator|latch|limits|list|locale|map|memory|mutex|new|numbers|
numeric|optional|ostream|print|queue|random|ranges|ratio|regex|semaphore|set|span|spanstream|sstream|stack|
stacktrace|stdexcept|streambuf|string|string_view|syncstream|system_error|thread|tuple|typeinfo|utility|valarray|
variant|vector|version'
names=$(printf %s "$names" | tr -d '\n')
[ -r "$commands" ] || { echo "header_names: no $commands"; exit 1; }
folders=$(grep -oE -- "(-I|-isystem )$source[^ \"]*" "$commands" | sed -E 's/^(-I|-isystem )//' | sort -u)
[ -n "$folders" ] || { echo "header_names: $commands names no folder of $source"; exit 1; }
# shellcheck disable=SC2086 # folders are words
found=$(find $folders -maxdepth 1 -type f | grep -E "/($names)$" | sort -u || true)
[ -z "$found" ] || { echo "header_names: in the way of the C++ library's headers: $found"; exit 1; }
