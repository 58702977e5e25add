#include "socket_pair.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "loopback.h"
#include "network_pair.h"

namespace causeway::bench::raw {

SocketPair::SocketPair(bool first, const std::function<std::string(const std::string&)>& exchange)
    : socket_(connect_over_loopback(first, exchange)) {}

SocketPair::~SocketPair() {
  close(socket_);
}

// Has a whole message come?
bool SocketPair::take() {
  char data[kMessageBytes];
  const ssize_t n = recv(socket_, data, kMessageBytes - got_, MSG_DONTWAIT);
  if (n == 0) throw std::runtime_error("the other socket has gone");
  if (n < 0) return false;
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
    while (!take())
      if (++idle % 1000 == 0) sched_yield();
  }
}

void SocketPair::progress() {
  if (take()) give();
}

}  // namespace causeway::bench::raw
