#include "loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace causeway::bench::raw {
namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int without_delay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

void require(bool good, const char* call) {
  if (!good) throw std::runtime_error(std::string(call) + ": " + strerror(errno));
}

int listen_on_loopback(uint16_t* port) {
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(made >= 0, "socket");
  require(bind(made, name, length) == 0 && listen(made, 1) == 0, "bind and listen");
  require(getsockname(made, name, &length) == 0, "getsockname");
  *port = ntohs(address.sin_port);
  return made;
}

int accept_one(int listening) {
  const int got = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  require(got >= 0, "accept");
  close(listening);
  return without_delay(got);
}

int connect_to_loopback(uint16_t port) {
  const sockaddr_in address = loopback(port);
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(made >= 0, "socket");
  require(connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
          "connect");
  return without_delay(made);
}

int connect_over_loopback(bool first,
                          const std::function<std::string(const std::string&)>& exchange) {
  uint16_t port = 0;
  if (first) {
    const int listening = listen_on_loopback(&port);
    exchange(std::string(reinterpret_cast<const char*>(&port), sizeof port));
    return accept_one(listening);
  }
  const std::string theirs = exchange("");
  memcpy(&port, theirs.data(), sizeof port);
  return connect_to_loopback(port);
}

}  // namespace causeway::bench::raw
