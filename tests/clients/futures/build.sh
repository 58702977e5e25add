#!/bin/sh
# What a user of the futures library types, for the identity that is asked for.
set -eu
identity=${IDENTITY:-gasnet-udp-seq}
mode=${identity##*-}
conduit=${identity%-*}
conduit=${conduit#gasnet-}
./configure --with-gasnet="$PREFIX/share/causeway/gasnet" --with-conduit="$conduit" --with-mode="$mode" \
  --with-cc="$CC" --with-cxx="$CXX"
make futures
