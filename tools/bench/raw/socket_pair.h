// Two bare kernel sockets: what a message there and back takes on plain Ethernet with no library at
// all. Waiting looks again at once, as the measured libraries do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace causeway::bench::raw {

class SocketPair {
 public:
  // `exchange` as NetworkPair's. Connects over the loopback interface. Throws std::runtime_error.
  SocketPair(bool first, const std::function<std::string(const std::string&)>& exchange);
  ~SocketPair();
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  // `count` messages of kMessageBytes there and back, one at a time.
  void trips(uint64_t count);
  // The other side: answers what has come.
  void progress();

 private:
  bool take();
  void give();

  int socket_;
  size_t got_ = 0;  // of the message that is arriving
};

}  // namespace causeway::bench::raw
