// Kernel sockets over the loopback interface, for the raw loops over TCP. All throw
// std::runtime_error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace causeway::bench::raw {

void require(bool good, const char* call);

int listen_on_loopback(uint16_t* port);
// Takes a single connection; closes the listening socket.
int accept_one(int listening);
int connect_to_loopback(uint16_t port);
// One connection of two processes, which `exchange` gives each other's words.
int connect_over_loopback(bool first,
                          const std::function<std::string(const std::string&)>& exchange);

}  // namespace causeway::bench::raw
