// The network interfaces of this host, and where they listen.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "wire.h"

namespace causeway::eth {

// An interface with one of its addresses.
struct Interface {
  std::string name;
  Place place{};
  uint8_t prefix = 0;  // bits of the address that the neighbors on the wire share
  bool loopback = false;
};

// Those that are up, the ones that lead furthest first.
std::vector<Interface> find_interfaces();
// Leaves those that `device` names, by interface ("eth0"), address ("192.0.2.7") or both
// ("eth0/192.0.2.7").
void keep_named(std::vector<Interface>& all, const std::string& device);
// The kernel and the network namespace of this process, as a number; 0: not known.
uint64_t network_stack();
std::string text_of(const Place& place);
inline bool is_v4(const Place& place) {
  return IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(place.bytes));
}
bool same(const Place& a, const Place& b);
// Whether the first bits of both are alike.
bool share_prefix(const Place& a, const Place& b, uint8_t bits);
// `family`: of the socket.
socklen_t socket_address(const Place& place, uint16_t port, sockaddr_storage& out);
// The place that this end of a connection has, or the other one.
bool local_place(int socket, Place& out);
bool remote_place(int socket, Place& out);
// The port of this end; 0: the socket has none.
uint16_t local_port(int socket);

}  // namespace causeway::eth
