#include "staging/pipeline.h"

#include <algorithm>

#include "object/segment.h"
#include "staging/bounce.h"

namespace causeway {

// Each chunk of the transfer goes through a bounce buffer: out of its source in the first stage,
// into its destination in the second one. Several chunks are under way at once, so both stages
// overlap.
Pipeline::Pipeline(const Ends& ends, Device& device, cwyc_op* op)
    : StagedTransfer(ends, device.bounces(!ends.put), op),
      chunk_bytes_(std::min<uint64_t>(device.policy().chunk, ends.connection().attr->rma_max)),
      chunks_(device.policy().depth) {}

// The first stage reads the source (ours of a put, the peer's of a get), the second stage writes.
cwy_status Pipeline::run_stage(Chunk& chunk, bool is_first) {
  if (!is_first) count_read(chunk);
  const bool ours = is_first == ends_.put;
  if (ours || ends_.there != nullptr) {
    char* const place = (ours ? ends_.local : ends_.there) + chunk.at;
    Device* const device = ours ? ends_.local_device : ends_.there_device;
    return chunk.move(device, is_first ? chunk.memory : place, is_first ? place : chunk.memory);
  }
  cwyc_mem* const lmem = pool_->registration(chunk.memory, ends_.connection().cep->conduit);
  return chunk.send(ends_.put, broken_, [&](cwyc_op* op) {
    return by_conduit(ends_, chunk.memory, lmem, ends_.raddr + chunk.at, chunk.bytes, op);
  });
}

bool Pipeline::take(Chunk& chunk) {
  if (next_ == ends_.length) return false;
  chunk.memory = pool_->take(rank());
  if (chunk.memory == nullptr) return false;
  chunk.bounced = true;
  chunk.at = next_;
  chunk.bytes = std::min<size_t>(chunk_bytes_, ends_.length - next_);
  next_ += chunk.bytes;
  return true;
}

bool Pipeline::hand_over(Chunk& chunk) {
  done_ += chunk.bytes;
  return true;
}

bool Pipeline::advance(uint32_t& moved) {
  push(moved);
  const bool under_way =
      std::ranges::any_of(chunks_, [](const Chunk& chunk) { return chunk.memory != nullptr; });
  return under_way || finished();
}

}  // namespace causeway
