#include "memkind/requested_transfer.h"

#include <algorithm>

#include "am/internal.h"
#include "diag/error.h"
#include "diag/log.h"
#include "memkind/bounce.h"
#include "memkind/remote.h"
#include "object/endpoint.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/segment.h"
#include "rma/emulation.h"
#include "rma/local.h"
#include "rma/unanswered.h"

namespace causeway {
namespace {

// Pieces of a transfer between the owner's device and host memory here: so many are under way at
// most, whatever the owner grants.
constexpr uint32_t kHostParts = 8;

}  // namespace

StagedTransfer::StagedTransfer(const Ends& ends, cwyc_op* op)
    : Journey(ends, ends.local_device != nullptr ? ends.local_device->bounces(!ends.put) : nullptr,
              op),
      number_(enter_landings(*this)),
      parts_(ends.local_device != nullptr ? ends.local_device->policy().depth : kHostParts) {
  ends_.flags &= ~uint32_t{CWYC_IMMEDIATE | CWYC_SRC_VOLATILE};
}

StagedTransfer::~StagedTransfer() {
  leave_landings(number_);
  if (asked_) note_answer(rank());
}

bool StagedTransfer::finished() const {
  const uint64_t landed = landed_.load(std::memory_order_acquire);
  return (ends_.put ? landed : landed + given_back_) == ends_.length;
}

void StagedTransfer::give_up() {
  uint32_t visit = 0;
  {
    const std::lock_guard lock(mutex_);  // handlers take it under that of refuse_landing()
    visit = visit_;
  }
  if (visit != 0) refuse_landing(*ends_.connection().peer, visit);
}

void StagedTransfer::granted(Grant grant) {
  const std::lock_guard lock(mutex_);
  visit_ = grant.visit;
  granted_.push_back(std::move(grant));
}

bool StagedTransfer::ask() {
  uint64_t piece = std::min<uint64_t>(ends_.connection().cep->attr.rma_max, INT32_MAX);
  if (ends_.local_device != nullptr) {
    piece = std::min<uint64_t>(piece, ends_.local_device->policy().chunk);
  }
  const auto laddr = reinterpret_cast<uint64_t>(ends_.local);
  uint64_t base = 0, size = 0, segment = 0;  // its number (RemoteSegment); 0: for nobody to map
  if (ends_.local_device == nullptr) find_segment(laddr, ends_.length, &base, &size, &segment);
  const int32_t args[] = {static_cast<int32_t>(StageWord::ask),
                          ends_.put ? 1 : 0,
                          static_cast<int32_t>(number_),
                          low_half(ends_.raddr),
                          high_half(ends_.raddr),
                          low_half(ends_.length),
                          high_half(ends_.length),
                          static_cast<int32_t>(piece),
                          static_cast<int32_t>(ends_.remote->known_arena(ends_.put)),
                          low_half(laddr),
                          high_half(laddr),
                          low_half(segment),
                          high_half(segment)};
  asked_ = try_send_internal(*ends_.connection().peer, Internal::device_stage, args, 13, nullptr, 0,
                             false) == CWY_OK;
  if (asked_) note_question(rank());
  return asked_;
}

// NULL when that process is no more, whose memory cannot be opened.
FarArena* StagedTransfer::open_arena(const Grant& grant, const Peer& peer) {
  if (arena_ != nullptr && arena_->number() == grant.arena) return arena_;
  try {
    FarArena& arena = ends_.remote->arena(ends_.put, grant.arena, grant.packed, peer);
    if (arena.here(grant.addr) == nullptr) arena.right(ends_.connection());
    return arena_ = &arena;
  } catch (const Error& e) {
    if (!runtime().survives_failures()) {
      if (e.status() != CWY_ERR_PEER_FAILED) or_fatal("staged transfer", [&e] { throw e; });
      // The next polls find out how it went, and this transfer waits until then.
      runtime().note_loss(peer.rank, peer.epoch.load(std::memory_order_relaxed), e.text());
      return nullptr;
    }
    log_warn("staged transfer: {}", e.text());
    broken_.store(e.status(), std::memory_order_release);
    return nullptr;
  }
}

// A grant, and the host memory that its bytes pass through. Buffers of the device's are taken by
// whoever has a berth, so that no transfer holds one while it waits for the other.
bool StagedTransfer::take(Part& part) {
  const std::lock_guard lock(mutex_);
  if (granted_.empty()) return false;
  Grant& grant = granted_.front();
  Peer& peer = *ends_.connection().peer;
  part.arena = open_arena(grant, peer);
  if (part.arena == nullptr) return false;
  part.memory = part.arena->here(grant.addr);
  part.mapped = part.memory != nullptr;
  part.bounced = false;
  if (part.mapped && ends_.local_device != nullptr) part.arena->pin(*ends_.local_device);
  if (!part.mapped && ends_.local_device != nullptr) {
    part.memory = pool_->take(rank());
    if (part.memory == nullptr) return false;
    part.bounced = true;
  }
  if (part.memory == nullptr) part.memory = ends_.local + grant.at;
  part.at = grant.at;
  part.bytes = grant.bytes;
  part.counted = false;
  part.grant = std::move(grant);
  granted_.pop_front();
  return true;
}

cwy_status StagedTransfer::wire(Part& part) {
  const Connection& c = ends_.connection();
  cwyc_mem* const lmem = part.bounced ? pool_->registration(part.memory, c.cep->conduit)
                                      : local_registration(ends_.conn, part.memory, part.bytes);
  cwyc_rkey* const right = part.arena->right(c);
  const uint64_t berth = part.grant.addr;
  const bool reached = right != nullptr || (c.cep->caps & CWYC_CAP_UNREGISTERED) != 0;
  return part.send(ends_.put, broken_, [&](cwyc_op* op) {
    const cwyc_ops& ops = host_table(c);
    cwy_status status = CWY_ERR_UNSUPPORTED;
    if (reached && ends_.put) {
      status = ops.put(ends_.conn, part.memory, lmem, berth, right, part.bytes, ends_.flags, op);
    } else if (reached) {
      status = ops.get(ends_.conn, part.memory, lmem, berth, right, part.bytes, ends_.flags, op);
    }
    if (status != CWY_ERR_UNSUPPORTED) return status;
    return ends_.put ? emulated_put(ends_.conn, part.memory, nullptr, berth, nullptr, part.bytes,
                                    ends_.flags, op)
                     : emulated_get(ends_.conn, part.memory, nullptr, berth, nullptr, part.bytes,
                                    ends_.flags, op);
  });
}

// A put copies first, a get last; a hop that is not needed is passed over.
bool StagedTransfer::hop(Part& part, bool is_first) {
  const bool copying = is_first == ends_.put;
  part.step.store(is_first ? Hop::first : Hop::second, std::memory_order_relaxed);
  if (copying ? !copies(part) : part.mapped) {
    part.step.store(is_first ? Hop::first_done : Hop::second_done, std::memory_order_relaxed);
    return true;
  }
  char* const place = ends_.local + part.at;
  const cwy_status status = !copying
                                ? wire(part)
                                : part.move(ends_.local_device, ends_.put ? part.memory : place,
                                            ends_.put ? place : part.memory);
  if (status != CWY_RETRY) return status == CWY_OK;
  part.step.store(is_first ? Hop::idle : Hop::first_done, std::memory_order_relaxed);
  return false;
}

bool StagedTransfer::give_back(Part& part, uint32_t& moved) {
  const int32_t args[] = {static_cast<int32_t>(ends_.put ? StageWord::filled : StageWord::taken),
                          static_cast<int32_t>(part.grant.visit),
                          static_cast<int32_t>(part.grant.berth)};
  if (try_send_internal(*ends_.connection().peer, Internal::device_stage, args, 3, nullptr, 0,
                        false) != CWY_OK) {
    return false;
  }
  give(part);
  given_back_ += part.bytes;
  ++moved;
  part.step.store(Hop::idle, std::memory_order_relaxed);
  return true;
}

// The part's next step; false when it has to wait.
bool StagedTransfer::push(Part& part, uint32_t& moved) {
  // Acquire: what the hop wrote is there.
  const uint32_t step = part.step.load(std::memory_order_acquire);
  const bool read = (step == Hop::first_done && copies(part)) || step == Hop::second_done;
  if (read) count_read(part);
  switch (step) {
    case Hop::idle:
      return (part.memory != nullptr || take(part)) && hop(part, true);
    case Hop::first_done:
      return hop(part, false);
    case Hop::second_done:
      return give_back(part, moved);
    default:
      return false;  // on a hop
  }
}

bool StagedTransfer::advance(uint32_t& moved) {
  if (!asked_ && !ask()) return true;
  for (Part& part : parts_) {
    while (!broken() && push(part, moved)) {
    }
  }
  return true;
}

}  // namespace causeway
