// Kernel sockets over the loopback interface, for the raw loops over TCP. All throw
// std::runtime_error.
#pragma once

#include <cstdint>
#include <string>

namespace causeway::bench::raw {

void require(bool good, const char* call);

int listen_on_loopback(uint16_t* port);
// Takes a single connection; closes the listening socket.
int accept_one(int listening);
int connect_to_loopback(uint16_t port);

}  // namespace causeway::bench::raw
