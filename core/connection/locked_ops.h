// The table of connections in SERIAL conduits once several threads may enter: every entry takes
// the endpoint's lock and calls the inner table.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

cwyc_ops locking_table();

}  // namespace causeway
