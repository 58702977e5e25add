#include "socket_ring.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "loopback.h"

namespace causeway::bench::raw {
namespace {

// Bytes that are received at once are combined while they are in a near cache.
constexpr size_t kAtOnce = 128 << 10;

}  // namespace

// A sum: in step s the block that came in step s - 1 goes on. Blocks are combined in the first half
// of the steps, and copied in the second.
struct SocketRing::Walk {
  double* dst;
  const double* src;
  size_t block;              // bytes
  uint32_t steps;            // of either direction
  uint32_t out = 0, in = 0;  // the step that is under way
  size_t sent = 0, got = 0;  // of its block
  size_t combined = 0;

  unsigned char* at(uint32_t which) const {
    return reinterpret_cast<unsigned char*>(dst) + which * block;
  }
  // How much of step `out`'s block may go out.
  size_t ready() const { return out == 0 || in >= out ? block : combined; }
};

SocketRing::SocketRing(uint32_t rank, uint32_t ranks,
                       const std::function<uint16_t(uint16_t)>& port_of_next)
    : rank_(rank), ranks_(ranks) {
  uint16_t own = 0;
  const int listening = listen_on_loopback(&own);
  to_next_ = connect_to_loopback(port_of_next(own));  // the backlog takes it
  from_before_ = accept_one(listening);
}

SocketRing::~SocketRing() {
  close(to_next_);
  close(from_before_);
}

bool SocketRing::send_some(Walk& w) {
  if (w.out == w.steps) return false;
  const size_t ready = w.ready();
  if (w.sent == ready) return false;
  const uint32_t which = (rank_ + 2 * ranks_ - w.out) % ranks_;
  const unsigned char* const from =
      w.out == 0 ? reinterpret_cast<const unsigned char*>(w.src) + which * w.block : w.at(which);
  const ssize_t n = send(to_next_, from + w.sent, ready - w.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0) {
    require(errno == EAGAIN || errno == EWOULDBLOCK, "send");
    return false;
  }
  w.sent += static_cast<size_t>(n);
  if (w.sent == w.block) {
    ++w.out;
    w.sent = 0;
  }
  return true;
}

bool SocketRing::receive_some(Walk& w) {
  if (w.in == w.steps) return false;
  const uint32_t which = (rank_ + 2 * ranks_ - 1 - w.in) % ranks_;
  unsigned char* const to = w.at(which);
  const ssize_t n =
      recv(from_before_, to + w.got, std::min(kAtOnce, w.block - w.got), MSG_DONTWAIT);
  if (n <= 0) {
    if (n == 0) throw std::runtime_error("the socket of the rank before has gone");
    require(errno == EAGAIN || errno == EWOULDBLOCK, "recv");
    return false;
  }
  w.got += static_cast<size_t>(n);
  size_t whole = w.got;
  if (w.in < w.steps / 2) {
    whole = w.got / sizeof(double);
    auto* const sum = reinterpret_cast<double*>(to);
    const double* const own = w.src + which * (w.block / sizeof(double));
    for (size_t i = w.combined / sizeof(double); i < whole; ++i) sum[i] += own[i];
    whole *= sizeof(double);
  }
  w.combined = whole;
  if (w.got == w.block) {
    ++w.in;
    w.got = w.combined = 0;
  }
  return true;
}

void SocketRing::all_reduce(double* dst, const double* src, size_t count) {
  Walk walk{dst, src, count / ranks_ * sizeof(double), 2 * (ranks_ - 1)};
  uint32_t idle = 0;
  while (walk.out < walk.steps || walk.in < walk.steps) {
    const bool sent = send_some(walk), received = receive_some(walk);
    if (!sent && !received && ++idle % 1000 == 0) sched_yield();
  }
}

}  // namespace causeway::bench::raw
