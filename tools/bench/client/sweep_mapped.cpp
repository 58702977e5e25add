// The plain loops of a sweep over shared memory.
#include <algorithm>
#include <cstring>
#include <utility>

#include "../raw/access.h"
#include "neighbor.h"
#include "sweep.h"

namespace causeway::bench {
namespace {

class MappedLoops : public RawLoops {
 public:
  explicit MappedLoops(Job& job) : job_(job), there_(Neighbor(job).mapped) {
    // Where the library maps nothing, the memory shared without it is smaller.
    room_ = job.mapped_address(job.peer()) != nullptr ? kSweepHalf : sizeof job.shared()->data;
    local_ = job.owner_address(job.rank()) + kSweepHalf;
  }

  bool has(const SweepRow&) const override { return true; }

  void first(const SweepRow& row, uint64_t count) override {
    SharedBlock& shared = *job_.shared();
    if (row.op != SweepOp::am) return copies(row, count);
    if (row.window == 1)
      raw::exchange_first(shared.exchange, local_, received(row), row.bytes, count, shares());
    else if (row.bytes <= sizeof(uint64_t))
      raw::flood_send(shared.ring, begin_flood(count), count, shares());
    else
      raw::stream_send(shared.stream, places(row), local_, count, shares());
  }

  void second(const SweepRow& row, uint64_t count, const std::function<bool()>&) override {
    SharedBlock& shared = *job_.shared();
    if (row.op != SweepOp::am) return;
    if (row.window == 1)
      raw::exchange_second(shared.exchange, answer(row), received(row), row.bytes, count, shares());
    else if (row.bytes <= sizeof(uint64_t))
      keep(raw::flood_receive(shared.ring, begin_flood(count), count, shares()));
    else
      keep(raw::stream_take(shared.stream, places(row), count, shares()));
  }

 private:
  bool shares() const { return job_.oversubscribed(); }
  uint64_t begin_flood(uint64_t count) { return std::exchange(flooded_, flooded_ + count); }
  // A long message's payload is not copied again where it arrives.
  unsigned char* received(const SweepRow& row) const {
    return *message_kind(row.bytes) == 'l' ? nullptr : local_ + row.bytes;
  }
  // It is answered out of where it is, by a handler that sends it back.
  const unsigned char* answer(const SweepRow& row) const {
    return received(row) == nullptr ? job_.shared()->exchange.there : local_;
  }
  raw::Places places(const SweepRow& row) const {
    return {job_.shared()->data, sizeof job_.shared()->data, row.bytes};
  }
  void copies(const SweepRow& row, uint64_t count) {
    const bool puts = row.op == SweepOp::put;
    unsigned char* const to = puts ? there_ : local_;
    const unsigned char* const from = puts ? local_ : there_;
    const size_t end = std::min(row.window * row.bytes, room_ / row.bytes * row.bytes);
    size_t at = 0;
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(to + at, from + at, row.bytes);
      keep(to);
      at = at + row.bytes < end ? at + row.bytes : 0;
    }
  }

  Job& job_;
  unsigned char *there_, *local_;
  size_t room_;
  uint64_t flooded_ = 0;
};

}  // namespace

std::unique_ptr<RawLoops> make_mapped_loops(Job& job) {
  return std::make_unique<MappedLoops>(job);
}

}  // namespace causeway::bench
