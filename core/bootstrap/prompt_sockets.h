// PMIx's connections, which it leaves with Nagle's algorithm on: a message that follows another one
// is kept back until that one is acknowledged, and who has nothing to answer acknowledges after 40
// to 200 ms. So late would a survivor hear of a death.
#pragma once

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>

namespace causeway {

// Has the TCP connections of this process that `chosen(peer's port)` wants send at once. Any
// thread.
template <typename Chosen>
void send_promptly(Chosen&& chosen) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), ::closedir);
  if (open == nullptr) return;
  while (const dirent* const entry = ::readdir(open.get())) {
    const int fd = std::atoi(entry->d_name);  // "." and "..": 0, which is no connection of PMIx
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    if (fd == 0 || ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if (peer.sin_family != AF_INET || !chosen(ntohs(peer.sin_port))) continue;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
}

}  // namespace causeway
