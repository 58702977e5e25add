#include "interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <functional>

#include "../common/descriptor.h"
#include "../common/main_interface.h"

namespace causeway::eth {
namespace {

Place mapped(const in_addr& address) {
  Place place{};
  place.bytes[10] = place.bytes[11] = 0xff;
  std::memcpy(place.bytes + 12, &address, sizeof address);
  return place;
}

// False: of a family that this conduit does not speak.
bool read_place(const sockaddr* from, Place& out) {
  if (from == nullptr) return false;
  if (from->sa_family == AF_INET) {
    out = mapped(reinterpret_cast<const sockaddr_in*>(from)->sin_addr);
    return true;
  }
  if (from->sa_family != AF_INET6) return false;
  std::memcpy(&out, &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr, sizeof out);
  return true;
}

uint8_t bits_of(const sockaddr* mask) {
  Place bits{};
  if (!read_place(mask, bits)) return 0;
  int count = mask->sa_family == AF_INET ? 96 : 0;
  for (size_t i = mask->sa_family == AF_INET ? 12 : 0; i < sizeof bits.bytes; ++i)
    count += std::popcount(bits.bytes[i]);
  return static_cast<uint8_t>(count);
}

// Addresses that every host has alike on a wire of its own have no scope at a peer.
bool is_link_local(const Place& place) {
  if (is_v4(place)) return place.bytes[12] == 169 && place.bytes[13] == 254;
  return place.bytes[0] == 0xfe && (place.bytes[1] & 0xc0) == 0x80;
}

}  // namespace

uint64_t network_stack() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  const uint64_t space = namespace_inode("/proc/self/ns/net");
  if (!std::getline(file, boot) || space == 0) return 0;
  return std::hash<std::string>{}(boot + std::to_string(space));
}

std::vector<Interface> find_interfaces() {
  std::vector<Interface> all;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return all;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    constexpr unsigned works = IFF_UP | IFF_RUNNING;
    Interface one;
    if ((i->ifa_flags & works) != works || !read_place(i->ifa_addr, one.place)) continue;
    if (is_link_local(one.place)) continue;
    one.name = i->ifa_name;
    one.loopback = (i->ifa_flags & IFF_LOOPBACK) != 0;
    one.prefix = bits_of(i->ifa_netmask);
    all.push_back(one);
  }
  freeifaddrs(list);
  const std::string main = main_interface();
  const auto rank = [&](const Interface& i) {
    return (i.loopback ? 4 : 0) + (i.name == main ? 0 : 2) + (is_v4(i.place) ? 0 : 1);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Interface& a, const Interface& b) { return rank(a) < rank(b); });
  return all;
}

void keep_named(std::vector<Interface>& all, const std::string& device) {
  std::erase_if(all, [&](const Interface& i) {
    const std::string address = text_of(i.place);
    return device != i.name && device != address && device != i.name + "/" + address;
  });
}

std::string text_of(const Place& place) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_v4(place))
    inet_ntop(AF_INET, place.bytes + 12, text, sizeof text);
  else
    inet_ntop(AF_INET6, place.bytes, text, sizeof text);
  return text;
}

bool same(const Place& a, const Place& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool share_prefix(const Place& a, const Place& b, uint8_t bits) {
  const size_t whole = std::min<size_t>(bits / 8, sizeof a.bytes);
  if (std::memcmp(a.bytes, b.bytes, whole) != 0) return false;
  if (whole == sizeof a.bytes || bits % 8 == 0) return true;
  return (a.bytes[whole] ^ b.bytes[whole]) >> (8 - bits % 8) == 0;
}

socklen_t socket_address(const Place& place, uint16_t port, sockaddr_storage& out) {
  out = {};
  if (is_v4(place)) {
    auto& in = reinterpret_cast<sockaddr_in&>(out);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, place.bytes + 12, sizeof in.sin_addr);
    return sizeof in;
  }
  auto& in = reinterpret_cast<sockaddr_in6&>(out);
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  std::memcpy(&in.sin6_addr, place.bytes, sizeof in.sin6_addr);
  return sizeof in;
}

static bool place_by(decltype(getsockname)* ask, int socket, Place& out) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  return ask(socket, plain, &length) == 0 && read_place(plain, out);
}

bool local_place(int socket, Place& out) {
  return place_by(getsockname, socket, out);
}

bool remote_place(int socket, Place& out) {
  return place_by(getpeername, socket, out);
}

// The port stands at the same place in both families' addresses.
uint16_t local_port(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace causeway::eth
