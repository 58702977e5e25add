// How a team's runs reach other members: mapped frames and boards, or messages.
#include <algorithm>
#include <cstring>

#include "am/arguments.h"
#include "am/post_long.h"
#include "base/fatal.h"
#include "collective/arena.h"
#include "collective/team_runs.h"
#include "connection/peer.h"
#include "object/connect.h"
#include "object/team.h"
#include "thread/op.h"
#include "thread/thread_state.h"

namespace causeway {

bool TeamRuns::map(Link& link, uint32_t rank) {
  if (rank == info_.rank) {
    link.block = block_;
    return true;
  }
  // Acquire: see Link.
  const uint64_t offset = link.offset.load(std::memory_order_acquire);
  if (offset == Link::kUnknown || offset == kNoOffset) return false;
  link.arena = mapped_arena(team_->member(rank));
  if (link.arena == nullptr || offset > arena_bytes() - block_bytes(scratch_)) {
    link.offset.store(kNoOffset, std::memory_order_relaxed);
    return false;
  }
  link.block = Block(link.arena + offset, scratch_);
  return true;
}

cwy_status TeamRuns::put_direct(Link& link, uint32_t rank, uint64_t seq, const void* src,
                                uint64_t length, uint64_t offset, uint32_t signal) {
  if (!link.block.has_frame(seq, link.ended_seen)) {
    link.ended_seen = link.block.ended().load(std::memory_order_acquire);
    if (!link.block.has_frame(seq, link.ended_seen))
      return seq <= link.ended_seen ? CWY_ERR_INVALID : CWY_RETRY;
  }
  link.block.store(seq, offset, src, length, signal);
  nudge(link, rank);
  return CWY_OK;
}

// Wakes a member that sleeps: what was stored into memory just now wakes nobody.
void TeamRuns::nudge(const Link& link, uint32_t rank) {
  if (link.arena == nullptr) return;
  // The signal before this look, as far as the compiler goes: ArenaHead::napping tells the rest.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (arena_head(link.arena).napping.load(std::memory_order_seq_cst) == 0) return;
  // Best effort: its sleep is bounded.
  try_send_internal(team_->member(rank), Internal::signal, handler_args(CollectiveMessage::nudge));
}

// ---- posts ----

// While this run waits, the line of this member's post in the next one comes here. Once: when
// neighbors have come to look there, it is theirs.
void TeamRuns::prepare_next(uint64_t seq, uint32_t which) {
  if (current_->prepared) return;
  current_->prepared = true;
  block_.prepare(seq + 1, which);
}

// Has that neighbor said that it looks at this member's board, and can be seen how far it is?
bool TeamRuns::looks_at_board(Link& link, uint32_t rank) {
  if (link.reads_board) return true;
  const auto index =
      static_cast<uint32_t>(std::ranges::lower_bound(nbrhd_ranks_, rank) - nbrhd_ranks_.begin());
  // Acquire: the neighbor's own block is in order.
  const uint64_t at = block_.reader(index).load(std::memory_order_acquire);
  if (at == 0) return false;
  uint64_t unknown = Link::kUnknown;
  link.offset.compare_exchange_strong(unknown, at - 1, std::memory_order_release,
                                      std::memory_order_relaxed);
  link.reads_board = link.block || map(link, rank);
  return link.reads_board;
}

// To neighbors that do not look at the board; goes on where a refusal interrupted it.
cwy_status TeamRuns::post_by_messages(uint64_t seq, uint32_t which, const void* src,
                                      uint64_t length) {
  for (uint32_t& i = current_->post_cursor; i < info_.nbrhd_size; ++i) {
    const uint32_t rank = nbrhd_ranks_[i];
    if (rank == info_.rank || link(rank).reads_board) continue;
    // With the message the neighbor learns where this member's board is.
    const auto args = handler_args(CollectiveMessage::post, team_->id(), rank, info_.rank, seq,
                                   which, block_offset_);
    const cwy_status status = try_send_internal(team_->member(rank), Internal::signal, args,
                                                length != 0 ? src : nullptr, length);
    if (status != CWY_OK) return status;
  }
  current_->post_cursor = 0;
  return CWY_OK;
}

// May the board's place for run `seq` be written, and do all look there? RETRY: not yet.
cwy_status TeamRuns::clear_for_post(uint64_t seq, bool* all) {
  bool all_look = true;
  uint64_t least_ended = UINT64_MAX;
  for (const uint32_t rank : nbrhd_ranks_) {
    if (rank == info_.rank) continue;
    Link& link = this->link(rank);
    // Not while messages go out: who has begun to look since gets its message still.
    if (!link.reads_board && (current_->post_cursor != 0 || !looks_at_board(link, rank))) {
      all_look = false;
    } else if (seq > link.ended_seen + kBoardRuns) {
      // Acquire: the reader is done with the post that is overwritten.
      link.ended_seen = link.block.ended().load(std::memory_order_acquire);
      if (seq > link.ended_seen + kBoardRuns) return CWY_RETRY;
    }
    least_ended = std::min(least_ended, link.ended_seen);
  }
  *all = all_look;
  if (!all_look || info_.nbrhd_size == 1) return CWY_OK;
  // They go on looking, so until then nobody has to be asked again.
  board_is_free_until_ = least_ended + kBoardRuns;
  return CWY_OK;
}

cwy_status TeamRuns::post(uint64_t seq, uint32_t which, const void* src, uint64_t length) {
  if (which >= info_.posts || length > kPostMax) return CWY_ERR_INVALID;
  bool all_look = seq <= board_is_free_until_;
  if (!all_look) {
    const cwy_status status = clear_for_post(seq, &all_look);
    if (status != CWY_OK) return status;
  }
  if (!all_look) {
    const cwy_status status = post_by_messages(seq, which, src, length);
    if (status != CWY_OK) return status;
  }
  block_.show(seq, which, src, length, !naps_are_fenced());
  prepare_next(seq, which);
  for (const uint32_t rank : nbrhd_ranks_) {
    if (rank == info_.rank) continue;
    const Link& link = this->link(rank);
    if (link.reads_board) nudge(link, rank);
  }
  moved();
  return CWY_OK;
}

cwy_status TeamRuns::posted(uint64_t seq, uint32_t rank, uint32_t which, void* dst,
                            uint64_t length) {
  if (rank >= info_.size || nbrhd_of_[rank] != info_.nbrhd_index || which >= info_.posts ||
      length > kPostMax)
    return CWY_ERR_INVALID;
  Link& link = this->link(rank);
  if (link.block || map(link, rank)) {
    if (__builtin_expect(!link.told, 0)) {
      link.told = true;
      // Release: this member's block is in order. Without one in the arena the other could not
      // see how far this member is, and goes on with messages.
      if (block_offset_ != kNoOffset)
        link.block.reader(info_.nbrhd_rank).store(block_offset_ + 1, std::memory_order_release);
    }
    if (link.block.read(seq, which, dst, length)) {
      moved();
      return CWY_OK;
    }
  }
  prepare_next(seq, which);
  if (__builtin_expect(mailed_.load(std::memory_order_relaxed) == 0, 1)) return CWY_INPROGRESS;
  const std::lock_guard lock(mailbox_->mutex);
  const auto found = mailed_posts_.find({seq, rank, which});
  if (found == mailed_posts_.end()) return CWY_INPROGRESS;
  // A post in a barrier has no bytes, and then there need not be a `dst`.
  const uint64_t bytes = std::min<uint64_t>(length, found->second.size());
  if (bytes != 0) std::memcpy(dst, found->second.data(), bytes);
  moved();
  return CWY_OK;
}

void TeamRuns::deliver_post(uint32_t sender, uint64_t seq, uint32_t which, const void* src,
                            uint64_t length) {
  if (sender >= info_.size || which >= info_.posts || length > kPostMax) return;
  if (seq <= block_.ended().load(std::memory_order_acquire)) return;
  const char* bytes = static_cast<const char*>(src);
  if (mailed_posts_.try_emplace({seq, sender, which}, bytes, bytes + length).second)
    mailed_.fetch_add(1, std::memory_order_relaxed);
}

std::array<int32_t, 8> TeamRuns::signal_args(CollectiveMessage message, uint32_t rank, uint64_t seq,
                                             uint32_t signal, uint64_t offset) const {
  return handler_args(message, team_->id(), rank, info_.rank, seq, signal,
                      static_cast<int32_t>(offset));
}

cwy_status TeamRuns::put(uint64_t seq, uint32_t rank, const void* src, uint64_t length,
                         uint64_t offset, uint32_t signal) {
  if (rank >= info_.size || signal >= kSignals || length > info_.put_max || offset > scratch_ ||
      length > scratch_ - offset)
    return CWY_ERR_INVALID;
  Link& link = this->link(rank);
  if (link.block || map(link, rank)) {
    const cwy_status status = put_direct(link, rank, seq, src, length, offset, signal);
    if (status == CWY_OK) moved();
    return status;
  }
  Peer& peer = team_->member(rank);
  const bool ask =
      link.offset.load(std::memory_order_relaxed) == Link::kUnknown && shares_arena(peer.rank);
  const auto message = ask ? CollectiveMessage::put_and_ask : CollectiveMessage::put;
  const auto args = signal_args(message, rank, seq, signal, offset);
  const cwy_status status =
      try_send_internal(peer, Internal::signal, args, length != 0 ? src : nullptr, length);
  if (status == CWY_OK) moved();
  return status;
}

// A long message: its payload goes where it belongs with no copy on the way where the conduit can
// do that, and arrives with the signal.
cwy_status TeamRuns::put_far(uint32_t rank, uint64_t seq, uint64_t raddr, const void* src,
                             uint64_t length, uint32_t signal, uint32_t* done) {
  if (signal >= kSignals) return CWY_ERR_INVALID;
  Peer& peer = team_->member(rank);
  constexpr const char* kCall = "collective transfer";
  cwyc_conn* conn = peer.am.load(std::memory_order_acquire);
  if (is_stub(conn)) {
    const cwy_status status = or_fatal(kCall, [&] { return connect_peer(peer); });
    if (status != CWY_OK) return status;
    conn = peer.am.load(std::memory_order_acquire);
  }
  const auto args = signal_args(CollectiveMessage::placed, rank, seq, signal, 0);
  ThreadState& thread = thread_state();
  Op* const op = thread.ops.take();
  op->arm_explicit(CWYC_DONE_LOCAL);
  const cwy_status status =
      post_long(conn, internal_word(Internal::signal, false), args.data(), args.size(), src, length,
                reinterpret_cast<void*>(raddr), 0, &op->conduit);
  if (status == CWY_INPROGRESS) {
    current_->transfers.push_back({reinterpret_cast<gex_Event_t>(op), done});
    moved();
    return CWY_OK;
  }
  thread.ops.give(op);
  if (status == CWY_OK) {
    std::atomic_ref<uint32_t>(*done).store(1, std::memory_order_release);
    moved();
  } else if (status != CWY_RETRY) {
    internal_send_failed(peer, status);
  }
  return status;
}

}  // namespace causeway
