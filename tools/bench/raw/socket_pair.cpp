#include "socket_pair.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "loopback.h"

namespace causeway::bench::raw {

SocketPair::SocketPair(const NetworkPairParams& p)
    : memory_(p.memory),
      local_(p.memory + p.bytes),
      socket_(connect_over_loopback(p.first, p.exchange)) {}

SocketPair::~SocketPair() {
  close(socket_);
}

void SocketPair::put(size_t length, uint64_t count, uint32_t window) {
  run(Kind::put, length, count, window);
}

void SocketPair::get(size_t length, uint64_t count, uint32_t window) {
  run(Kind::get, length, count, window);
}

void SocketPair::trips(uint64_t count, size_t payload) {
  for (uint64_t i = 0; i < count; ++i) {
    give({Kind::message, static_cast<uint32_t>(payload), 0, {}}, local_, payload);
    await(1);
  }
}

void SocketPair::progress() {
  Header header;
  if (!peek(header)) return;
  if (header.kind == Kind::put) {
    take(memory_ + header.at, header.length);
    give({Kind::done, 0, 0, {}}, nullptr, 0);
  } else if (header.kind == Kind::get) {
    give({Kind::answer, header.length, header.at, {}}, memory_ + header.at, header.length);
  } else {
    take(local_, header.length);
    give(header, local_, header.length);
  }
}

void SocketPair::run(Kind kind, size_t length, uint64_t count, uint32_t window) {
  const bool is_put = kind == Kind::put;
  for (uint64_t begun = 0; begun < count; begun += window) {
    for (uint32_t i = 0; i < window; ++i)
      give({kind, static_cast<uint32_t>(length), i * length, {}}, is_put ? local_ : nullptr,
           is_put ? length : 0);
    await(window);
  }
}

void SocketPair::await(uint64_t count) {
  for (Header header; count != 0;) {
    if (!peek(header)) continue;
    if (header.kind != Kind::done) take(local_ + header.at, header.length);
    --count;
  }
}

void SocketPair::give(const Header& header, const void* data, size_t length) {
  iovec pieces[] = {{const_cast<Header*>(&header), sizeof header},
                    {const_cast<void*>(data), length}};
  for (size_t left = sizeof header + length; left != 0;) {
    const ssize_t n = length == 0 ? send(socket_, pieces[0].iov_base, left, MSG_NOSIGNAL)
                                  : writev(socket_, pieces, 2);
    require(n > 0, "send");
    left -= static_cast<size_t>(n);
    size_t part = static_cast<size_t>(n);
    for (iovec& piece : pieces) {
      const size_t of_piece = part < piece.iov_len ? part : piece.iov_len;
      piece.iov_base = static_cast<char*>(piece.iov_base) + of_piece;
      piece.iov_len -= of_piece;
      part -= of_piece;
    }
  }
}

bool SocketPair::peek(Header& out) {
  const ssize_t n = recv(socket_, header_ + got_, sizeof header_ - got_, MSG_DONTWAIT);
  if (n == 0) throw std::runtime_error("the other socket has gone");
  if (n < 0) {
    if (++idle_ % 1000 == 0) sched_yield();
    return false;
  }
  got_ += static_cast<size_t>(n);
  if (got_ < sizeof header_) return false;
  got_ = 0;
  std::memcpy(&out, header_, sizeof out);
  return true;
}

void SocketPair::take(void* to, size_t length) {
  for (size_t got = 0; got < length;) {
    const ssize_t n = recv(socket_, static_cast<char*>(to) + got, length - got, MSG_WAITALL);
    require(n > 0, "recv");
    got += static_cast<size_t>(n);
  }
}

}  // namespace causeway::bench::raw
