#!/bin/sh
# Open MPI's launch agent: HOST COMMAND... enters the network namespace of that name. The name of
# the host is its own there as well, because Open MPI tells hosts apart by it.
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host && $*"
