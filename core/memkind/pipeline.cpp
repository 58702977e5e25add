#include "memkind/pipeline.h"

#include <algorithm>

#include "memkind/bounce.h"
#include "object/endpoint.h"
#include "object/segment.h"

namespace causeway {

// Chunks of a transfer go through a buffer each: out of their source, then into their destination,
// several at once, so that both hops of a transfer overlap.
Pipeline::Pipeline(const Ends& ends, Device& device, cwyc_op* op)
    : Journey(ends, op),
      device_(device),
      chunk_(std::min<uint64_t>(device.policy().chunk, ends.connection().cep->attr.rma_max)),
      parts_(device.policy().depth) {}

// The first hop reads the source (ours of a put, the peer's of a get), the second one writes.
cwy_status Pipeline::hop(Part& part, bool first) {
  const bool ours = first == ends_.put;
  part.step.store(first ? loading : storing, std::memory_order_relaxed);
  cwy_status status;
  if (ours || ends_.there != nullptr) {
    char* const place = (ours ? ends_.local : ends_.there) + part.at;
    Device* const device = ours ? ends_.local_device : ends_.there_device;
    status = part.move(device, first ? part.buffer : place, first ? place : part.buffer);
  } else {
    cwyc_mem* const lmem =
        device_.bounces(!ends_.put).memory().registration(ends_.connection().cep->conduit);
    Ends piece = ends_;
    piece.flags &= ~uint32_t{CWYC_IMMEDIATE | CWYC_SRC_VOLATILE};
    status = part.send(ends_.put, [&](cwyc_op* op) {
      return by_conduit(piece, part.buffer, lmem, ends_.raddr + part.at, part.bytes, op);
    });
  }
  if (status == CWY_RETRY) part.step.store(first ? idle : loaded, std::memory_order_relaxed);
  return status;
}

bool Pipeline::take_buffer(Part& part) {
  if (part.buffer != nullptr) return true;
  if (next_ == ends_.length) return false;
  part.buffer = device_.bounces(!ends_.put).take();
  if (part.buffer == nullptr) return false;
  part.at = next_;
  part.bytes = std::min<size_t>(chunk_, ends_.length - next_);
  part.counted = false;
  next_ += part.bytes;
  return true;
}

bool Pipeline::push(Part& part, uint32_t& moved) {
  // Acquire: what the hop wrote is there.
  switch (part.step.load(std::memory_order_acquire)) {
    case idle:
      return take_buffer(part) && hop(part, true) != CWY_RETRY;
    case loaded:
      count_read(part);
      return hop(part, false) != CWY_RETRY;
    case stored:
      device_.bounces(!ends_.put).give(part.buffer);
      part.buffer = nullptr;
      done_ += part.bytes;
      ++moved;
      part.step.store(idle, std::memory_order_relaxed);
      return next_ != ends_.length;
    default:
      return false;  // on a hop
  }
}

bool Pipeline::advance(uint32_t& moved) {
  bool under_way = false;
  for (Part& part : parts_) {
    while (push(part, moved)) {
    }
    under_way |= part.buffer != nullptr;
  }
  return under_way || finished();
}

}  // namespace causeway
