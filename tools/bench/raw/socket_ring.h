// A sum over all ranks by bare kernel sockets: the ring (reduce-scatter, then all-gather) that
// moves the fewest bytes, each received where it belongs and sent on as soon as it is combined.
// What TCP over the loopback interface allows on this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace causeway::bench::raw {

class SocketRing {
 public:
  // `port_of_next`: tells this rank's port to the others and answers that of the next rank.
  // Collective. Throws std::runtime_error.
  SocketRing(uint32_t rank, uint32_t ranks, const std::function<uint16_t(uint16_t)>& port_of_next);
  ~SocketRing();
  SocketRing(const SocketRing&) = delete;
  SocketRing& operator=(const SocketRing&) = delete;

  // `count` is a multiple of the number of ranks; `dst` and `src` do not overlap.
  void all_reduce(double* dst, const double* src, size_t count);

 private:
  struct Walk;
  bool send_some(Walk& walk);
  bool receive_some(Walk& walk);

  uint32_t rank_, ranks_;
  int to_next_ = -1, from_before_ = -1;
};

}  // namespace causeway::bench::raw
