// How a relay finds its job: invitation, connection, order to start.
#pragma once

#include <string>

#include "launch/start_order.h"
#include "launch/wire.h"

namespace causeway::launch {

struct Joined {
  StartOrder order;
  Channel link;
};

// Reads the invitation from `invitation_fd`, reaches the launcher, proves to be the invited relay
// and waits for the order to start. Every wait is bounded. Throws Error.
Joined join_launcher(int invitation_fd);

// Name of the session directory: the job's with the host's number, because two hosts of a job may
// share a file system, or be one machine.
std::string relay_session(const StartOrder& order);

}  // namespace causeway::launch
