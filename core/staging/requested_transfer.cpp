#include "staging/requested_transfer.h"

#include <algorithm>

#include "am/internal.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/log.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/segment.h"
#include "rma/emulation.h"
#include "rma/unanswered.h"
#include "staging/bounce.h"
#include "staging/remote.h"

namespace causeway {
namespace {

// The most chunks of a transfer between the owner's device and host memory here that are under way
// at once, whatever the owner grants.
constexpr uint32_t kHostChunks = 8;

}  // namespace

RequestedTransfer::RequestedTransfer(const Ends& ends, cwyc_op* op)
    : StagedTransfer(
          ends, ends.local_device != nullptr ? ends.local_device->bounces(!ends.put) : nullptr, op),
      number_(add_staging_client(*this)),
      chunks_(ends.local_device != nullptr ? ends.local_device->policy().depth : kHostChunks) {
  ends_.flags &= ~uint32_t{CWYC_IMMEDIATE | CWYC_SRC_VOLATILE};
}

RequestedTransfer::~RequestedTransfer() {
  remove_staging_client(number_);
  if (asked_) note_answer(rank());
}

bool RequestedTransfer::finished() const {
  const uint64_t copied = copied_.load(std::memory_order_acquire);
  return (ends_.put ? copied : copied + given_back_) == ends_.length;
}

void RequestedTransfer::give_up() {
  uint32_t transfer = 0;
  {
    const std::lock_guard lock(mutex_);  // handlers take it under that of refuse_transfer()
    transfer = owner_number_;
  }
  if (transfer != 0) refuse_transfer(*ends_.connection().peer, transfer);
}

void RequestedTransfer::granted(Grant grant) {
  const std::lock_guard lock(mutex_);
  owner_number_ = grant.transfer;
  granted_.push_back(std::move(grant));
}

bool RequestedTransfer::ask() {
  uint64_t piece = std::min<uint64_t>(ends_.connection().cep->attr.rma_max, INT32_MAX);
  if (ends_.local_device != nullptr) {
    piece = std::min<uint64_t>(piece, ends_.local_device->policy().chunk);
  }
  const auto laddr = reinterpret_cast<uint64_t>(ends_.local);
  uint64_t base = 0, size = 0, segment = 0;  // its number (RemoteSegment); 0: for nobody to map
  if (ends_.local_device == nullptr) find_segment(laddr, ends_.length, &base, &size, &segment);
  const int32_t args[] = {static_cast<int32_t>(StagingMessage::ask),
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

// NULL when the owner's process is gone, so that its memory cannot be opened.
FarArena* RequestedTransfer::open_arena(const Grant& grant, const Peer& peer) {
  if (arena_ != nullptr && arena_->number() == grant.arena) return arena_;
  try {
    FarArena& arena = ends_.remote->arena(ends_.put, grant.arena, grant.packed, peer);
    if (arena.here(grant.addr) == nullptr) arena.right(ends_.connection());
    return arena_ = &arena;
  } catch (const Error& e) {
    if (!context().survives_failures()) {
      if (e.status() != CWY_ERR_PEER_FAILED) or_fatal("staged transfer", [&e] { throw e; });
      // The next polls find out how it went, and this transfer waits until then.
      context().note_loss(peer.rank, peer.epoch.load(std::memory_order_relaxed), e.text());
      return nullptr;
    }
    log_warn("staged transfer: {}", e.text());
    broken_.store(e.status(), std::memory_order_release);
    return nullptr;
  }
}

// Gives the chunk a grant, and the host memory that its bytes pass through. A transfer takes a
// bounce buffer of the device here only when it has a grant of the owner's, so that no transfer
// holds one buffer while it waits for the other.
bool RequestedTransfer::take(GrantedChunk& chunk) {
  const std::lock_guard lock(mutex_);
  if (granted_.empty()) return false;
  Grant& grant = granted_.front();
  Peer& peer = *ends_.connection().peer;
  chunk.arena = open_arena(grant, peer);
  if (chunk.arena == nullptr) return false;
  chunk.memory = chunk.arena->here(grant.addr);
  chunk.mapped = chunk.memory != nullptr;
  chunk.bounced = false;
  if (chunk.mapped && ends_.local_device != nullptr) chunk.arena->pin(*ends_.local_device);
  if (!chunk.mapped && ends_.local_device != nullptr) {
    chunk.memory = pool_->take(rank());
    if (chunk.memory == nullptr) return false;
    chunk.bounced = true;
  }
  if (chunk.memory == nullptr) chunk.memory = ends_.local + grant.at;
  chunk.at = grant.at;
  chunk.bytes = grant.bytes;
  chunk.counted = false;
  chunk.grant = std::move(grant);
  granted_.pop_front();
  return true;
}

cwy_status RequestedTransfer::wire(GrantedChunk& chunk) {
  const Connection& c = ends_.connection();
  cwyc_mem* const lmem = chunk.bounced ? pool_->registration(chunk.memory, c.cep->conduit)
                                       : local_registration(ends_.conn, chunk.memory, chunk.bytes);
  cwyc_rkey* const right = chunk.arena->right(c);
  const uint64_t far = chunk.grant.addr;
  const bool reached = right != nullptr || (c.cep->caps & CWYC_CAP_UNREGISTERED) != 0;
  return chunk.send(ends_.put, broken_, [&](cwyc_op* op) {
    const cwyc_ops& ops = host_table(c);
    cwy_status status = CWY_ERR_UNSUPPORTED;
    if (reached && ends_.put) {
      status = ops.put(ends_.conn, chunk.memory, lmem, far, right, chunk.bytes, ends_.flags, op);
    } else if (reached) {
      status = ops.get(ends_.conn, chunk.memory, lmem, far, right, chunk.bytes, ends_.flags, op);
    }
    if (status != CWY_ERR_UNSUPPORTED) return status;
    return emulated_transfer(ends_.conn, ends_.put, chunk.memory, far, chunk.bytes, ends_.flags,
                             op);
  });
}

// A put copies in its first stage, a get in its second. A stage that is not needed is skipped.
bool RequestedTransfer::run_stage(GrantedChunk& chunk, bool is_first) {
  const bool copying = is_first == ends_.put;
  chunk.step.store(is_first ? Chunk::first : Chunk::second, std::memory_order_relaxed);
  if (copying ? !copies(chunk) : chunk.mapped) {
    chunk.step.store(is_first ? Chunk::first_done : Chunk::second_done, std::memory_order_relaxed);
    return true;
  }
  char* const place = ends_.local + chunk.at;
  const cwy_status status = !copying
                                ? wire(chunk)
                                : chunk.move(ends_.local_device, ends_.put ? chunk.memory : place,
                                             ends_.put ? place : chunk.memory);
  if (status != CWY_RETRY) return status == CWY_OK;
  chunk.step.store(is_first ? Chunk::idle : Chunk::first_done, std::memory_order_relaxed);
  return false;
}

bool RequestedTransfer::give_back(GrantedChunk& chunk, uint32_t& moved) {
  const int32_t args[] = {
      static_cast<int32_t>(ends_.put ? StagingMessage::filled : StagingMessage::taken),
      static_cast<int32_t>(chunk.grant.transfer), static_cast<int32_t>(chunk.grant.buffer)};
  if (try_send_internal(*ends_.connection().peer, Internal::device_stage, args, 3, nullptr, 0,
                        false) != CWY_OK) {
    return false;
  }
  give(chunk);
  given_back_ += chunk.bytes;
  ++moved;
  chunk.step.store(Chunk::idle, std::memory_order_relaxed);
  return true;
}

// The chunk's next step; false when the chunk has to wait.
bool RequestedTransfer::push(GrantedChunk& chunk, uint32_t& moved) {
  // Acquire: what the stage before wrote is there.
  const uint32_t step = chunk.step.load(std::memory_order_acquire);
  const bool read = (step == Chunk::first_done && copies(chunk)) || step == Chunk::second_done;
  if (read) count_read(chunk);
  switch (step) {
    case Chunk::idle:
      return (chunk.memory != nullptr || take(chunk)) && run_stage(chunk, true);
    case Chunk::first_done:
      return run_stage(chunk, false);
    case Chunk::second_done:
      return give_back(chunk, moved);
    default:
      return false;  // in a stage
  }
}

bool RequestedTransfer::advance(uint32_t& moved) {
  if (!asked_ && !ask()) return true;
  for (GrantedChunk& chunk : chunks_) {
    while (!broken() && push(chunk, moved)) {
    }
  }
  return true;
}

}  // namespace causeway
