#include "memkind/pipeline.h"

#include <algorithm>

#include "memkind/bounce.h"
#include "object/endpoint.h"
#include "object/segment.h"

namespace causeway {

// Chunks of a transfer go through a buffer each: out of their source, then into their destination,
// several at once, so that both hops of a transfer overlap.
Pipeline::Pipeline(const Ends& ends, Device& device, cwyc_op* op)
    : Journey(ends, device.bounces(!ends.put), op),
      chunk_(std::min<uint64_t>(device.policy().chunk, ends.connection().cep->attr.rma_max)),
      parts_(device.policy().depth) {}

// The first hop reads the source (ours of a put, the peer's of a get), the second one writes.
cwy_status Pipeline::hop(Hop& part, bool is_first) {
  const bool ours = is_first == ends_.put;
  part.step.store(is_first ? Hop::first : Hop::second, std::memory_order_relaxed);
  cwy_status status;
  if (ours || ends_.there != nullptr) {
    char* const place = (ours ? ends_.local : ends_.there) + part.at;
    Device* const device = ours ? ends_.local_device : ends_.there_device;
    status = part.move(device, is_first ? part.memory : place, is_first ? place : part.memory);
  } else {
    cwyc_mem* const lmem = pool_->registration(part.memory, ends_.connection().cep->conduit);
    Ends piece = ends_;
    piece.flags &= ~uint32_t{CWYC_IMMEDIATE | CWYC_SRC_VOLATILE};
    status = part.send(ends_.put, broken_, [&](cwyc_op* op) {
      return by_conduit(piece, part.memory, lmem, ends_.raddr + part.at, part.bytes, op);
    });
  }
  if (status == CWY_RETRY)
    part.step.store(is_first ? Hop::idle : Hop::first_done, std::memory_order_relaxed);
  return status;
}

bool Pipeline::take_buffer(Hop& part) {
  if (part.memory != nullptr) return true;
  if (next_ == ends_.length) return false;
  part.memory = pool_->take(rank());
  if (part.memory == nullptr) return false;
  part.bounced = true;
  part.at = next_;
  part.bytes = std::min<size_t>(chunk_, ends_.length - next_);
  part.counted = false;
  next_ += part.bytes;
  return true;
}

bool Pipeline::push(Hop& part, uint32_t& moved) {
  // Acquire: what the hop wrote is there.
  switch (part.step.load(std::memory_order_acquire)) {
    case Hop::idle:
      return take_buffer(part) && hop(part, true) != CWY_RETRY;
    case Hop::first_done:
      count_read(part);
      return hop(part, false) != CWY_RETRY;
    case Hop::second_done:
      give(part);
      done_ += part.bytes;
      ++moved;
      part.step.store(Hop::idle, std::memory_order_relaxed);
      return next_ != ends_.length;
    default:
      return false;  // on a hop
  }
}

bool Pipeline::advance(uint32_t& moved) {
  bool under_way = false;
  for (Hop& part : parts_) {
    while (!broken() && push(part, moved)) {
    }
    under_way |= part.memory != nullptr;
  }
  return under_way || finished();
}

}  // namespace causeway
