// The ways to a rank that has left in good order, while this one goes on.
#pragma once

#include <cstdint>

namespace causeway {

// From now on a request of the client's to that rank ends this process with a line that names both:
// there nobody runs handlers any more, and nothing would fail that waits for a reply. Replies of
// the client's are dropped: nobody misses them. What the core sends goes the way it did: the rank
// answers until it ends. Connections that come up later, or are being made, need another call. Any
// thread, not inside of a conduit.
void close_requests_to(uint32_t rank);

}  // namespace causeway
