// The ways to a rank that has left in good order, while this one goes on.
#pragma once

#include <cstdint>

namespace causeway {

// From now on a request of the client's to that rank ends this process with a line that names both:
// the rank runs no handlers any more, and a wait for the reply would never fail. Replies of the
// client's are dropped, since no rank misses them. Messages of the core's go as before: the rank
// answers until it ends. Connections that come up later, or are being made, need another call. Any
// thread, not inside of a conduit.
void close_requests_to(uint32_t rank);

}  // namespace causeway
