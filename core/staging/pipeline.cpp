#include "staging/pipeline.h"

#include <algorithm>

#include "object/endpoint.h"
#include "object/segment.h"
#include "staging/bounce.h"

namespace causeway {

// Each chunk of the transfer goes through a bounce buffer: out of its source in the first stage,
// into its destination in the second one. Several chunks are under way at once, so both stages
// overlap.
Pipeline::Pipeline(const Ends& ends, Device& device, cwyc_op* op)
    : StagedTransfer(ends, device.bounces(!ends.put), op),
      chunk_bytes_(std::min<uint64_t>(device.policy().chunk, ends.connection().cep->attr.rma_max)),
      chunks_(device.policy().depth) {}

// The first stage reads the source (ours of a put, the peer's of a get), the second stage writes.
cwy_status Pipeline::run_stage(Chunk& chunk, bool is_first) {
  const bool ours = is_first == ends_.put;
  chunk.step.store(is_first ? Chunk::first : Chunk::second, std::memory_order_relaxed);
  cwy_status status;
  if (ours || ends_.there != nullptr) {
    char* const place = (ours ? ends_.local : ends_.there) + chunk.at;
    Device* const device = ours ? ends_.local_device : ends_.there_device;
    status = chunk.move(device, is_first ? chunk.memory : place, is_first ? place : chunk.memory);
  } else {
    cwyc_mem* const lmem = pool_->registration(chunk.memory, ends_.connection().cep->conduit);
    Ends piece = ends_;
    piece.flags &= ~uint32_t{CWYC_IMMEDIATE | CWYC_SRC_VOLATILE};
    status = chunk.send(ends_.put, broken_, [&](cwyc_op* op) {
      return by_conduit(piece, chunk.memory, lmem, ends_.raddr + chunk.at, chunk.bytes, op);
    });
  }
  if (status == CWY_RETRY)
    chunk.step.store(is_first ? Chunk::idle : Chunk::first_done, std::memory_order_relaxed);
  return status;
}

bool Pipeline::take_buffer(Chunk& chunk) {
  if (chunk.memory != nullptr) return true;
  if (next_ == ends_.length) return false;
  chunk.memory = pool_->take(rank());
  if (chunk.memory == nullptr) return false;
  chunk.bounced = true;
  chunk.at = next_;
  chunk.bytes = std::min<size_t>(chunk_bytes_, ends_.length - next_);
  chunk.counted = false;
  next_ += chunk.bytes;
  return true;
}

bool Pipeline::push(Chunk& chunk, uint32_t& moved) {
  // Acquire: what the stage before wrote is there.
  switch (chunk.step.load(std::memory_order_acquire)) {
    case Chunk::idle:
      return take_buffer(chunk) && run_stage(chunk, true) != CWY_RETRY;
    case Chunk::first_done:
      count_read(chunk);
      return run_stage(chunk, false) != CWY_RETRY;
    case Chunk::second_done:
      give(chunk);
      done_ += chunk.bytes;
      ++moved;
      chunk.step.store(Chunk::idle, std::memory_order_relaxed);
      return next_ != ends_.length;
    default:
      return false;  // in a stage
  }
}

bool Pipeline::advance(uint32_t& moved) {
  bool under_way = false;
  for (Chunk& chunk : chunks_) {
    while (!broken() && push(chunk, moved)) {
    }
    under_way |= chunk.memory != nullptr;
  }
  return under_way || finished();
}

}  // namespace causeway
