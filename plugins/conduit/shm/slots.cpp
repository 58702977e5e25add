// Which senders write into this endpoint's rings: slots opened, closed, rejected and recycled.
#include <algorithm>
#include <new>

#include "endpoint.h"

namespace causeway::shm {
namespace {

// The list of (rank, newest epoch) has at most as many entries as ranks of this host ever were.
uint32_t& newest_epoch_of(cwyc_ep* ep, uint32_t rank) {
  for (auto& [known, epoch] : ep->newest_epoch)
    if (known == rank) return epoch;
  ep->newest_epoch.emplace_back(rank, 0);
  return ep->newest_epoch.back().second;
}

// Older epochs of a rank are dropped as soon as a newer one is known.
void reject_older(cwyc_ep* ep, cwy_peer newest) {
  for (uint32_t i = 0; i < ep->polled_count.load(std::memory_order_relaxed); ++i) {
    Receiver& r = *ep->polled[i];
    const cwy_peer sender = unpack(r.owner.load(std::memory_order_relaxed)).sender;
    if (r.owner.load(std::memory_order_relaxed) != 0 && sender.rank == newest.rank &&
        sender.epoch < newest.epoch)
      r.rejected.store(true, std::memory_order_relaxed);
  }
}

// Takes both lanes of a receiver, if nobody has them.
class BothLanes {
 public:
  explicit BothLanes(Receiver& r) : receiver_(r) {
    while (held_ < lane_count && r.lane[held_].lock.try_lock()) ++held_;
  }
  ~BothLanes() {
    for (uint32_t i = 0; i < held_; ++i) receiver_.lane[i].lock.unlock();
  }
  BothLanes(const BothLanes&) = delete;
  bool taken() const { return held_ == lane_count; }

 private:
  Receiver& receiver_;
  uint32_t held_ = 0;
};

// False: not yet. A lane that was closed may still be looked at, for a moment, by a thread that had
// seen a record of its last sender: what it reads of the lane, and its closing of a rejected one, must
// not meet the opening.
bool open_receiver(cwyc_ep* ep, uint32_t index, uint64_t word) {
  if (ep->receivers[index] == nullptr) ep->receivers[index].reset(new (std::nothrow) Receiver);
  if (ep->receivers[index] == nullptr) return false;
  Receiver& r = *ep->receivers[index];
  const BothLanes lanes(r);
  if (!lanes.taken()) return false;
  Slot* slot = slot_at(ep->control, index);
  const cwy_peer sender = unpack(word).sender;
  r.owner.store(pack({SlotState::open, sender}), std::memory_order_relaxed);
  r.rejected.store(false, std::memory_order_relaxed);
  if (slot->sender_has_membarrier.load(std::memory_order_relaxed) == 0)
    ep->senders_have_membarrier.store(false, std::memory_order_relaxed);

  uint32_t& newest = newest_epoch_of(ep, sender.rank);
  // Whoever does not know the job's key is no rank of the job, and its epoch means nothing.
  if (slot->sender_job.load(std::memory_order_relaxed) != ep->domain->job ||
      sender.epoch < newest) {
    r.rejected.store(true, std::memory_order_relaxed);
    return true;
  }
  newest = sender.epoch;
  reject_older(ep, sender);
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    r.lane[lane].open(ring_at(ep->control, index, lane), ep->control->ring_bytes,
                      &slot->lane[lane].head);
  if (r.listed) return true;
  r.listed = true;
  const uint32_t count = ep->polled_count.load(std::memory_order_relaxed);
  ep->polled[count] = &r;
  if (count == 0)
    for (auto& recent : ep->recent) recent.store(&r, std::memory_order_release);
  // Release: whoever sees the count sees the entry and its open lanes.
  ep->polled_count.store(count + 1, std::memory_order_release);
  return true;
}

// Makes a ring as new whose sender has left, perhaps in the middle of a record. A lane that was read
// to its end has at most that one beyond, here or at the ring's start, and what was not yet cleared.
void clear_ring(const cwyc_ep* ep, char* ring, RxLane& lane, bool read_to_end) {
  char* const end = ring + ep->control->ring_bytes;
  if (!read_to_end || !lane.is_open()) return clear_lines(ring, end);
  const size_t longest = medium_bytes(CWYC_AM_MAX_ARGS, ep->medium_max);
  char* const at = lane.at.load(std::memory_order_relaxed);
  lane.sweep(at);
  clear_lines(at, std::min(at + longest, end));
  clear_lines(ring, std::min(ring + longest, at));
}

// Its sender has left: once everything is read, the slot is as new. False: not yet.
bool recycle(cwyc_ep* ep, uint32_t index) {
  Receiver& r = *ep->receivers[index];
  const bool rejected = r.rejected.load(std::memory_order_relaxed);
  // The look is made with both lanes held: beside a thread that reads on, it could be at a record
  // that was read and cleared, with more behind it.
  const BothLanes lanes(r);
  if (!lanes.taken()) return false;
  for (RxLane& lane : r.lane)
    if (!rejected && lane.has_record()) return false;
  Slot* slot = slot_at(ep->control, index);
  for (uint32_t i = 0; i < lane_count; ++i) {
    clear_ring(ep, ring_at(ep->control, index, i), r.lane[i], !rejected);
    r.lane[i].close();
    slot->lane[i].head.store(0, std::memory_order_relaxed);
  }
  r.owner.store(0, std::memory_order_relaxed);
  // Release: the next sender finds an empty ring.
  slot->owner.store(0, std::memory_order_release);
  return true;
}

// False when the slot has to be looked at again.
bool adopt(cwyc_ep* ep, uint32_t index) {
  // Acquire: pairs with the sender's release; the rest of the slot is written.
  const uint64_t word = slot_at(ep->control, index)->owner.load(std::memory_order_acquire);
  const Receiver* const r = ep->receivers[index].get();
  const uint64_t known = r != nullptr ? r->owner.load(std::memory_order_relaxed) : 0;
  if (word == known) return true;
  switch (unpack(word).state) {
    case SlotState::open:
      return open_receiver(ep, index, word);
    case SlotState::closing:
      if (known == 0 && !open_receiver(ep, index, word)) return false;
      return recycle(ep, index);
    default:
      return true;  // free, or claimed: its opening raises the generation again
  }
}

}  // namespace

void adopt_slots(cwyc_ep* ep) {
  // Also when single-threaded: a handler's nested progress must not walk through a half-made list.
  if (!ep->adopt_lock.try_lock()) return;
  const uint32_t generation = ep->control->slot_generation.load(std::memory_order_acquire);
  bool settled = true;
  for (uint32_t i = 0; i < ep->slot_count; ++i) settled &= adopt(ep, i);
  if (settled) ep->seen_generation.store(generation, std::memory_order_relaxed);
  ep->adopt_lock.unlock();
}

void reject_sender(cwyc_ep* ep, cwy_peer peer, bool gone) {
  while (!ep->adopt_lock.try_lock()) relax();  // held for a walk over the slots at most
  uint32_t& newest = newest_epoch_of(ep, peer.rank);
  newest = std::max(newest, peer.epoch + 1);
  reject_older(ep, {peer.rank, peer.epoch + 1});
  for (uint32_t i = 0; gone && i < ep->slot_count; ++i) {
    Slot* slot = slot_at(ep->control, i);
    uint64_t word = slot->owner.load(std::memory_order_acquire);
    const SlotOwner owner = unpack(word);
    if (owner.state == SlotState::free || owner.sender.rank != peer.rank ||
        owner.sender.epoch > peer.epoch)
      continue;
    // On behalf of the dead. Release, like the sender's own closing.
    slot->owner.compare_exchange_strong(word, pack({SlotState::closing, owner.sender}),
                                        std::memory_order_release, std::memory_order_relaxed);
    ep->control->slot_generation.fetch_add(1, std::memory_order_release);
  }
  ep->adopt_lock.unlock();
}

bool has_unread(cwyc_ep* ep, uint32_t rank) {
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Receiver& r = *ep->polled[i];
    if (unpack(r.owner.load(std::memory_order_relaxed)).sender.rank != rank) continue;
    for (const RxLane& lane : r.lane)
      if (lane.has_record()) return true;
  }
  return false;
}

}  // namespace causeway::shm
