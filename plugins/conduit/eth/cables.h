// The kernel's announcements of this host's interfaces: links that are lost and come back.
#pragma once

#include "../common/descriptor.h"

struct cwyc_ep;

namespace causeway::eth {

// A descriptor that is readable when there is news of some interface; none where the kernel
// announces nothing to this process.
Descriptor watch_cables();
// Reads the news, and tells the core of the domain's interfaces.
void hear_of_cables(cwyc_ep* ep);

}  // namespace causeway::eth
