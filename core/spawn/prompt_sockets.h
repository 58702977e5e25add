// PMIx's connections, for which PMIx leaves Nagle's algorithm on. A message that follows another
// one is kept back until that one is acknowledged, and a side that has nothing to answer
// acknowledges after 40 to 200 ms. A survivor would hear of a death that late.
#pragma once

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace causeway {

// Has the sockets of this process that `chosen(descriptor)` wants send at once; those that a
// listening one accepts from then on do, too. Any thread.
template <typename Chosen>
void send_promptly(Chosen&& chosen) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir("/proc/self/fd"), ::closedir);
  if (open == nullptr) return;
  while (const dirent* const entry = ::readdir(open.get())) {
    const int fd = std::atoi(entry->d_name);  // "." and "..": 0, which is no socket of PMIx
    if (fd == 0 || !chosen(fd)) continue;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
}

// 0: it is no TCP connection.
inline uint16_t peer_port(int fd) {
  sockaddr_in peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return 0;
  return peer.sin_family == AF_INET ? ntohs(peer.sin_port) : uint16_t{0};
}

inline bool is_listening(int fd) {
  int yes = 0;
  socklen_t length = sizeof yes;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &length) == 0 && yes != 0;
}

}  // namespace causeway
