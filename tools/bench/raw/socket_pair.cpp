#include "socket_pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "network_pair.h"

namespace causeway::bench::raw {
namespace {

void require(bool good, const char* call) {
  if (!good) throw std::runtime_error(std::string(call) + ": " + strerror(errno));
}

}  // namespace

SocketPair::SocketPair(bool first, const std::function<std::string(const std::string&)>& exchange) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(made >= 0, "socket");
  if (first) {
    require(bind(made, name, length) == 0 && listen(made, 1) == 0, "bind and listen");
    require(getsockname(made, name, &length) == 0, "getsockname");
    exchange(std::string(reinterpret_cast<const char*>(&address), sizeof address));
    socket_ = accept4(made, nullptr, nullptr, SOCK_CLOEXEC);
    require(socket_ >= 0, "accept");
    close(made);
  } else {
    const std::string theirs = exchange("");
    memcpy(&address, theirs.data(), sizeof address);
    require(connect(made, name, sizeof address) == 0, "connect");
    socket_ = made;
  }
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

SocketPair::~SocketPair() {
  close(socket_);
}

// Has a whole message come?
bool SocketPair::take() {
  char data[kMessageBytes];
  const ssize_t n = recv(socket_, data, kMessageBytes - got_, MSG_DONTWAIT);
  if (n <= 0) {
    if (n == 0) throw std::runtime_error("the other socket has gone");
    return false;
  }
  got_ += static_cast<size_t>(n);
  if (got_ < kMessageBytes) return false;
  got_ = 0;
  return true;
}

void SocketPair::give() {
  const char data[kMessageBytes] = {};
  require(send(socket_, data, sizeof data, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof data),
          "send");
}

void SocketPair::trips(uint64_t count) {
  uint32_t idle = 0;
  for (uint64_t i = 0; i < count; ++i) {
    give();
    while (!take()) {
      if (++idle % 1000 == 0) sched_yield();
    }
  }
}

void SocketPair::progress() {
  if (take()) give();
}

}  // namespace causeway::bench::raw
