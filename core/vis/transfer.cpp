#include "vis/transfer.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

#include "am/internal.h"
#include "am/limits.h"
#include "base/context.h"
#include "base/invariant.h"
#include "config/config.h"
#include "vis/run_list.h"
#include "vis/vis_transfer.h"

namespace causeway {
namespace {

// Guards the slots and counts of all transfers and the queues. Never held while anything is sent
// or a client's operation is completed: a message to oneself is answered within the sending call.
std::mutex g_transfer_mutex;

// Transfers with something to send, by peer, so that a peer without room holds up nobody else.
using Queue = std::list<VisTransfer*>;
std::unordered_map<Peer*, Queue> g_queues;

void enqueue_locked(VisTransfer* transfer) {
  g_queues[&transfer->peer()].push_back(transfer);
  vis_waiting.fetch_add(1, std::memory_order_relaxed);
}

void part_reported(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail) {
  if (status != CWY_OK) return operation_failed(status, detail);
  Slot& slot = slot_of(op);
  slot.transfer->settle(slot, what);
}

Side owned(const Side& side, std::vector<Level>& levels) {
  Side out = side;
  if (side.kind == Side::Kind::strided) {
    levels.assign(side.levels, side.levels + side.level_count);
    out.levels = levels.data();
  }
  return out;
}

}  // namespace

VisTransfer::VisTransfer(const TransferPlan& plan, cwyc_op* op)
    : call_(plan.call),
      peer_(plan.peer),
      put_(plan.operation == Operation::put),
      immediate_(plan.immediate),
      anywhere_(plan.reach == Reach::anywhere),
      vectors_possible_(plan.reach == Reach::bound),
      pack_below_(plan.reach != Reach::bound ? SIZE_MAX
                  : plan.one_by_one          ? 0
                                             : context().config().vis.pack_below),
      local_(owned(plan.local, local_levels_)),
      remote_(owned(plan.remote, remote_levels_)),
      client_(op),
      notice_(plan.completion.handler),
      notice_length_(plan.completion.length) {
  if (notice_length_ != 0)
    std::memcpy(notice_payload_.data(), plan.completion.source, notice_length_);
  classify();
  slots_ = std::make_unique<Slot[]>(slot_count_);
  for (uint32_t i = 0; i < slot_count_; ++i) {
    slots_[i].transfer = this;
    slots_[i].op.fn = part_reported;
  }
  free_ = slot_count_ == 64 ? ~uint64_t{0} : (uint64_t{1} << slot_count_) - 1;
  walk_ = {Cursor(local_), Cursor(remote_)};
}

// Which stages there are, and how many slots can be of use. A stage that may be empty costs a walk
// over the lists, so what the lengths rule out is left out.
void VisTransfer::classify() {
  size_t local_longest = 0, remote_longest = 0;
  total_ = std::min(local_.total(&local_longest), remote_.total(&remote_longest));
  const size_t longest = std::min(local_longest, remote_longest);
  has_large_ = is_large(longest);
  const bool uniform = local_.kind != Side::Kind::vector && remote_.kind != Side::Kind::vector &&
                       (local_longest == remote_longest || local_.runs == 1 || remote_.runs == 1);
  has_small_ = pack_below_ != 0 && !(uniform && has_large_);
  const size_t pieces = local_.runs + remote_.runs;
  const bool one_message =
      !has_large_ &&
      total_ + pieces * RunWriter::kMostPerRun + kMaxPeerCompletion <= limits_of(peer_).medium;
  if (!one_message) {
    slot_count_ = static_cast<uint32_t>(
        std::min<size_t>(context().config().vis.pipeline, std::max<size_t>(total_, 1)));
  }
}

// Moves the walk to the next piece that is to be sent. False when there is none left.
bool VisTransfer::seek() {
  while (stage_ != Stage::posted) {
    const bool large = stage_ == Stage::large;
    if (large ? has_large_ : has_small_) {
      while (!walk_.done() && is_large(walk_.piece()) != large) walk_.advance(walk_.piece());
      if (!walk_.done()) return true;
    }
    stage_ = large ? Stage::small : Stage::posted;
    if (large && has_large_) walk_ = {Cursor(local_), Cursor(remote_)};
  }
  return false;
}

Slot* VisTransfer::take_slot() {
  const std::lock_guard lock(g_transfer_mutex);
  if (free_ == 0) {
    parked_ = true;
    return nullptr;
  }
  Slot& slot = slots_[static_cast<uint32_t>(__builtin_ctzll(free_))];
  ensure("a free slot of a pipeline awaits nothing", [&] { return slot.awaits == 0; });
  free_ &= free_ - 1;
  ++outstanding_;
  slot.awaits = CWYC_DONE_REMOTE;
  return &slot;
}

// The operation to be posted reads the client's memory after the call that posts it.
void VisTransfer::await_local(Slot& slot) {
  const std::lock_guard lock(g_transfer_mutex);
  slot.awaits |= CWYC_DONE_LOCAL;
  ++locals_;
}

void VisTransfer::free_slot(Slot& slot) {
  ensure("a slot of a pipeline is freed once",
         [&] { return outstanding_ != 0 && (free_ & uint64_t{1} << (&slot - slots_.get())) == 0; });
  if (slot.awaits & CWYC_DONE_LOCAL) --locals_;
  slot.awaits = 0;
  free_ |= uint64_t{1} << (&slot - slots_.get());
  --outstanding_;
}

// A slot whose operation did not come to be, or was complete at once. The poster's.
void VisTransfer::give_back(Slot& slot) {
  const std::lock_guard lock(g_transfer_mutex);
  free_slot(slot);
}

// Something was reported of a slot, by any thread, possibly within the poster's own call.
void VisTransfer::settle(Slot& slot, uint32_t what) {
  cwyc_op* const client = client_;  // once unlocked, another thread may finish the transfer
  bool report_local = false, finished = false;
  {
    const std::lock_guard lock(g_transfer_mutex);
    const uint32_t news = what & slot.awaits;
    if (news == 0) return;
    if (news & CWYC_DONE_LOCAL) --locals_;
    slot.awaits &= ~news;
    const bool freed = slot.awaits == 0;
    if (freed) free_slot(slot);
    if (!posted_) {
      if (freed && parked_) {
        parked_ = false;
        enqueue_locked(this);
      }
    } else if (outstanding_ == 0) {
      // The notice is a request, which no handler may send: a poll does it.
      finished = notice_ == 0;
      if (!finished) enqueue_locked(this);
    } else if (put_ && locals_ == 0 && !local_reported_) {
      local_reported_ = report_local = true;
    }
  }
  if (finished)
    finish();
  else if (report_local)
    client->fn(client, CWYC_DONE_LOCAL, CWY_OK, nullptr);
}

void VisTransfer::finish() {
  cwyc_op* const client = client_;
  uint32_t bits = CWYC_DONE_REMOTE;
  if (put_ && !local_reported_) bits |= CWYC_DONE_LOCAL;
  delete this;
  client->fn(client, bits, CWY_OK, nullptr);
}

// Everything has gone out. Unless nothing is under way any more, the answers own the transfer once
// the lock is given up.
Outcome VisTransfer::all_posted() {
  cwyc_op* const client = client_;
  bool report_local = false;
  {
    const std::lock_guard lock(g_transfer_mutex);
    posted_ = true;
    if (outstanding_ != 0 && put_ && locals_ == 0) local_reported_ = report_local = true;
    if (outstanding_ == 0) return Outcome::finished;
  }
  if (report_local) client->fn(client, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  return Outcome::under_way;
}

Outcome VisTransfer::send_notice() {
  if (notice_ == 0) return Outcome::finished;
  if (try_notify(peer_, notice_, notice_payload_.data(), notice_length_) == CWY_RETRY)
    return Outcome::no_room;
  notice_ = 0;
  return Outcome::finished;
}

Outcome VisTransfer::post(uint32_t* sent) {
  // With its data out, a transfer comes here for its notice only.
  if (stage_ == Stage::posted) return send_notice();
  while (seek()) {
    Slot* const slot = take_slot();
    if (slot == nullptr) return Outcome::under_way;
    const bool vectors_were_possible = vectors_possible_;
    const cwy_status status = send_next(*slot);
    if (status != CWY_INPROGRESS) give_back(*slot);
    if (status == CWY_RETRY) return Outcome::no_room;
    // The conduit's vectors do not reach this memory: messages take over.
    if (status == CWY_ERR_UNSUPPORTED && vectors_were_possible && !vectors_possible_) continue;
    if (is_error(status)) send_failed(peer_, status);
    begun_ = true;
    ++*sent;
  }
  const Outcome outcome = all_posted();
  return outcome == Outcome::finished ? send_notice() : outcome;
}

cwy_status start_transfer(const TransferPlan& plan, cwyc_op* op) {
  auto* const transfer = new VisTransfer(plan, op);
  uint32_t sent = 0;
  const Outcome outcome = transfer->post(&sent);
  if (outcome == Outcome::under_way) return CWY_INPROGRESS;
  const bool finished = outcome == Outcome::finished;
  if (finished || (plan.immediate && !transfer->begun())) {
    delete transfer;
    return finished ? CWY_OK : CWY_RETRY;
  }
  const std::lock_guard lock(g_transfer_mutex);
  enqueue_locked(transfer);
  return CWY_INPROGRESS;
}

uint32_t push_transfers() {
  std::unordered_map<Peer*, Queue> batch;
  {
    const std::lock_guard lock(g_transfer_mutex);
    batch.swap(g_queues);
  }
  uint32_t sent = 0;
  for (auto& [peer, queue] : batch) {
    while (!queue.empty()) {
      VisTransfer* const transfer = queue.front();
      const Outcome outcome = transfer->post(&sent);
      if (outcome == Outcome::no_room) break;  // nor will the next ones find any
      queue.pop_front();
      vis_waiting.fetch_sub(1, std::memory_order_relaxed);
      if (outcome == Outcome::finished) {
        ++sent;
        transfer->finish();
      }
    }
  }
  const std::lock_guard lock(g_transfer_mutex);
  for (auto& [peer, queue] : batch) {
    if (queue.empty()) continue;
    // In front of what came meanwhile.
    Queue& now = g_queues[peer];
    now.splice(now.begin(), queue);
  }
  return sent;
}

void vis_put_done(uint64_t cookie) {
  Slot& slot = slot_of(take_over(cookie));
  slot.transfer->settle(slot, CWYC_DONE_REMOTE);
}

bool vis_got(uint64_t cookie, const char* data, size_t length) {
  Slot& slot = slot_of(take_over(cookie));
  if (!slot.transfer->scatter(slot, data, length)) return false;
  slot.transfer->settle(slot, CWYC_DONE_REMOTE);
  return true;
}

}  // namespace causeway
