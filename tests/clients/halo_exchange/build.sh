#!/bin/sh
# As a user of GASNet with pkg-config types it.
set -eu
cflags=$(pkg-config --cflags "$IDENTITY") libs=$(pkg-config --libs "$IDENTITY")
# shellcheck disable=SC2086 # flags are words
$CC -std=c99 -Wall -Wextra -Wpedantic -Werror $cflags grid.c exchange.c results.c main.c -o halo_exchange $libs -lm
