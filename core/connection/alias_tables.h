// The tables of aliases: connections of the core's own that forward to another one (peer.h).
#pragma once

#include <causeway/conduit.h>

namespace causeway {

struct Connection;

// The table of aliases of `base`. `device_end`: an end of their pair lies in device memory.
const cwyc_ops& alias_table(const Connection& base, bool device_end);

}  // namespace causeway
