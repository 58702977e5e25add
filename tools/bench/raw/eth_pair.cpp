// The loops over one bare TCP connection: each operation is a header, and what it moves behind it.
// A put is complete when the other side says that its bytes are in place.
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "loopback.h"
#include "network_pair.h"

namespace causeway::bench::raw {
namespace {

enum class Kind : uint32_t { put, get, answer, done, message };
struct Header {
  Kind kind;
  uint32_t length;
  uint64_t at;
  char filler[kMessageBytes - 16];
};
static_assert(sizeof(Header) == kMessageBytes);

class EthPair : public NetworkPair {
 public:
  explicit EthPair(const NetworkPairParams& p)
      : memory_(p.memory),
        local_(p.memory + p.bytes),
        socket_(connect_over_loopback(p.first, p.exchange)) {}
  ~EthPair() override { close(socket_); }

  void put(size_t length, uint64_t count, uint32_t window) override {
    run(Kind::put, length, count, window);
  }
  void get(size_t length, uint64_t count, uint32_t window) override {
    run(Kind::get, length, count, window);
  }
  void trips(uint64_t count) override {
    for (uint64_t i = 0; i < count; ++i) {
      give({Kind::message, 0, 0, {}}, nullptr, 0);
      await(1);
    }
  }
  // Answers what has come.
  void progress() override {
    Header header;
    if (!peek(header)) return;
    if (header.kind == Kind::put) {
      take(memory_ + header.at, header.length);
      give({Kind::done, 0, 0, {}}, nullptr, 0);
    } else if (header.kind == Kind::get) {
      give({Kind::answer, header.length, header.at, {}}, memory_ + header.at, header.length);
    } else {
      give(header, nullptr, 0);
    }
  }

 private:
  void run(Kind kind, size_t length, uint64_t count, uint32_t window) {
    const bool is_put = kind == Kind::put;
    for (uint64_t begun = 0; begun < count; begun += window) {
      for (uint32_t i = 0; i < window; ++i)
        give({kind, static_cast<uint32_t>(length), i * length, {}}, is_put ? local_ : nullptr,
             is_put ? length : 0);
      await(window);
    }
  }

  // So many operations, or messages, of ours have come back.
  void await(uint64_t count) {
    for (Header header; count != 0;) {
      if (!peek(header)) continue;
      if (header.kind == Kind::answer) take(local_ + header.at, header.length);
      --count;
    }
  }

  void give(const Header& header, const void* data, size_t length) {
    iovec pieces[] = {{const_cast<Header*>(&header), sizeof header},
                      {const_cast<void*>(data), length}};
    for (size_t left = sizeof header + length; left != 0;) {
      const ssize_t n = writev(socket_, pieces, 2);
      require(n > 0, "writev");
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

  // A whole header, if one has come.
  bool peek(Header& out) {
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

  void take(void* to, size_t length) {
    for (size_t got = 0; got < length;) {
      const ssize_t n = recv(socket_, static_cast<char*>(to) + got, length - got, MSG_WAITALL);
      require(n > 0, "recv");
      got += static_cast<size_t>(n);
    }
  }

  unsigned char *memory_, *local_;
  int socket_;
  char header_[sizeof(Header)] = {};
  size_t got_ = 0;  // of the header that is arriving
  uint32_t idle_ = 0;
};

}  // namespace

std::unique_ptr<NetworkPair> make_network_pair(const NetworkPairParams& params) {
  return std::make_unique<EthPair>(params);
}

}  // namespace causeway::bench::raw
