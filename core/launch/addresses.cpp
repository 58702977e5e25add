#include "launch/addresses.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "launch/clock.h"

namespace causeway::launch {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Numeric only: no name service is asked.
Address parse(const std::string& text, uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
    return address;
  }
  throw Error(CWY_ERR_INVALID, "'{}' is not a numeric address", text);
}

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text,
                sizeof text);
  } else {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    // Link-local addresses mean nothing on another host.
    if (!IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
      ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  }
  return text;
}

}  // namespace

std::pair<UniqueFd, uint16_t> open_listener(const std::string& only) {
  std::string failure;
  // "::" takes connections of both families, where the machine has IPv6.
  for (const std::string& text :
       only.empty() ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector<std::string>{only}) {
    Address address = parse(text, 0);
    UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int no = 0;
    if (fd && text == "::") ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (!fd || ::bind(fd.get(), address.get(), address.length) != 0 ||
        ::listen(fd.get(), 512) != 0) {
      failure = std::strerror(errno);
      continue;
    }
    socklen_t length = sizeof address.storage;
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address.storage), &length);
    const uint16_t port = address.storage.ss_family == AF_INET
                              ? reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port
                              : reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port;
    return {std::move(fd), ntohs(port)};
  }
  throw Error(CWY_ERR_UNREACHABLE, "cannot listen for the relays{}{}: {}",
              only.empty() ? "" : " at ", only, failure);
}

std::vector<std::string> own_addresses(const std::string& only) {
  if (!only.empty()) return {only};
  std::vector<std::string> v4, v6;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) list = nullptr;
  for (const ifaddrs* it = list; it != nullptr; it = it->ifa_next) {
    if (it->ifa_addr == nullptr || (it->ifa_flags & IFF_UP) == 0 ||
        (it->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    const int family = it->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const std::string text = text_of(it->ifa_addr);
    if (!text.empty()) (family == AF_INET ? v4 : v6).push_back(text);
  }
  if (list != nullptr) ::freeifaddrs(list);
  v4.insert(v4.end(), v6.begin(), v6.end());
  v4.push_back("127.0.0.1");
  return v4;
}

UniqueFd connect_to(const std::string& text, uint16_t port, double limit_s) {
  const Address address = parse(text, port);
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw Error(CWY_ERR_UNREACHABLE, "{}", std::strerror(errno));
  if (::connect(fd.get(), address.get(), address.length) != 0) {
    if (errno != EINPROGRESS) throw Error(CWY_ERR_UNREACHABLE, "{}", std::strerror(errno));
    pollfd ready{fd.get(), POLLOUT, 0};
    if (::poll(&ready, 1, static_cast<int>(limit_s * 1e3)) <= 0)
      throw Error(CWY_ERR_TIMEOUT, "no answer");
    int failure = 0;
    socklen_t length = sizeof failure;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &length);
    if (failure != 0) throw Error(CWY_ERR_UNREACHABLE, "{}", std::strerror(failure));
  }
  ::fcntl(fd.get(), F_SETFL, 0);
  return fd;
}

bool wait_readable(int fd, double until) {
  while (now_s() < until) {
    pollfd ready{fd, POLLIN, 0};
    const int n = ::poll(&ready, 1, ms_until(until));
    // Descriptors that poll cannot look at are for the read to complain of.
    if (n > 0 || (n < 0 && errno != EINTR)) return true;
  }
  return false;
}

std::string receive(int socket, size_t size, double until, const char* late, const char* closed) {
  std::string bytes;
  while (bytes.size() < size) {
    if (!wait_readable(socket, until)) throw Error(CWY_ERR_TIMEOUT, "{}", late);
    char chunk[64 << 10];
    const ssize_t n = ::recv(socket, chunk, std::min(sizeof chunk, size - bytes.size()), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw Error(CWY_ERR_UNREACHABLE, "{}", closed);
    bytes.append(chunk, static_cast<size_t>(n));
  }
  return bytes;
}

}  // namespace causeway::launch
