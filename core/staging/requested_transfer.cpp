#include "staging/requested_transfer.h"

#include <algorithm>

#include "am/arguments.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/log.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/segment.h"
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
      chunks_(ends.local_device != nullptr ? ends.local_device->policy().depth : kHostChunks) {}

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
  uint64_t piece = std::min<uint64_t>(ends_.connection().attr->rma_max, INT32_MAX);
  if (ends_.local_device != nullptr)
    piece = std::min<uint64_t>(piece, ends_.local_device->policy().chunk);
  uint64_t base = 0, size = 0, segment = 0;  // its number (RemoteSegment); 0: for nobody to map
  if (ends_.local_device == nullptr)
    find_segment(reinterpret_cast<uint64_t>(ends_.local), ends_.length, &base, &size, &segment);
  const auto args = handler_args(StagingMessage::ask, ends_.put, number_, ends_.raddr, ends_.length,
                                 static_cast<int32_t>(piece), ends_.remote->known_arena(ends_.put),
                                 ends_.local, segment);
  asked_ = try_send_internal(*ends_.connection().peer, Internal::device_stage, args) == CWY_OK;
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
    broken_.note(e.status(), nullptr);
    return nullptr;
  }
}

// A transfer takes a bounce buffer of the device here only when it has a grant of the owner's, so
// that no transfer holds one buffer while it waits for the other.
bool RequestedTransfer::take(Chunk& which) {
  auto& chunk = static_cast<GrantedChunk&>(which);
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
  chunk.grant = std::move(grant);
  granted_.pop_front();
  return true;
}

cwy_status RequestedTransfer::wire(GrantedChunk& chunk) {
  const Connection& c = ends_.connection();
  cwyc_mem* const lmem = chunk.bounced ? pool_->registration(chunk.memory, c.cep->conduit)
                                       : local_registration(ends_.conn, chunk.memory, chunk.bytes);
  Ends piece = ends_;
  piece.remote = nullptr;  // the owner's buffer is host memory
  piece.right = chunk.arena->right(c);
  piece.inside = true;
  return chunk.send(ends_.put, broken_, [&](cwyc_op* op) {
    return by_conduit(piece, chunk.memory, lmem, chunk.grant.addr, chunk.bytes, op);
  });
}

// A put copies in its first stage, a get in its second. A stage that is not needed is skipped.
cwy_status RequestedTransfer::run_stage(Chunk& which, bool is_first) {
  auto& chunk = static_cast<GrantedChunk&>(which);
  if (!is_first && copies(chunk)) count_read(chunk);
  const bool copying = is_first == ends_.put;
  if (copying ? !copies(chunk) : chunk.mapped) {
    chunk.passed();
    return CWY_OK;
  }
  if (!copying) return wire(chunk);
  char* const place = ends_.local + chunk.at;
  return chunk.move(ends_.local_device, ends_.put ? chunk.memory : place,
                    ends_.put ? place : chunk.memory);
}

bool RequestedTransfer::hand_over(Chunk& which) {
  const auto& chunk = static_cast<GrantedChunk&>(which);
  const auto args = handler_args(ends_.put ? StagingMessage::filled : StagingMessage::taken,
                                 chunk.grant.transfer, chunk.grant.buffer);
  if (try_send_internal(*ends_.connection().peer, Internal::device_stage, args) != CWY_OK)
    return false;
  given_back_ += chunk.bytes;
  return true;
}

bool RequestedTransfer::advance(uint32_t& moved) {
  if (asked_ || ask()) push(moved);
  return true;
}

}  // namespace causeway
