// A bare TCP connection over the loopback interface: what plain Ethernet costs with no library at
// all. Each operation is a header, and what it moves behind it. A put is complete when the other
// side says that its bytes are in place. Waiting looks again at once, as the measured libraries do.
#pragma once

#include "network_pair.h"

namespace causeway::bench::raw {

class SocketPair : public NetworkPair {
 public:
  // Throws std::runtime_error.
  explicit SocketPair(const NetworkPairParams& params);
  ~SocketPair() override;

  void put(size_t length, uint64_t count, uint32_t window) override;
  void get(size_t length, uint64_t count, uint32_t window) override;
  void trips(uint64_t count, size_t payload) override;
  bool has_payloads() const override { return true; }
  // Answers what has come.
  void progress() override;

 private:
  enum class Kind : uint32_t { put, get, answer, done, message };
  struct Header {
    Kind kind;
    uint32_t length;
    uint64_t at;
    char filler[kMessageBytes - 16];
  };
  static_assert(sizeof(Header) == kMessageBytes);

  void run(Kind kind, size_t length, uint64_t count, uint32_t window);
  // So many operations, or messages, of ours have come back.
  void await(uint64_t count);
  void give(const Header& header, const void* data, size_t length);
  // A whole header, if one has come.
  bool peek(Header& out);
  void take(void* to, size_t length);

  unsigned char *memory_, *local_;
  int socket_;
  char header_[sizeof(Header)] = {};
  size_t got_ = 0;  // of the header that is arriving
  uint32_t idle_ = 0;
};

}  // namespace causeway::bench::raw
