// The receiving side: which senders there are, and delivering what they sent.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "endpoint.h"

namespace causeway::shm {
namespace {

// Up to so many senders every call polls all; beyond, the recent ones and so many others.
constexpr uint32_t poll_all_up_to = 16;
constexpr uint32_t poll_others = 8;
// Looks at the clock, for liveness, after so many calls that found nothing.
constexpr uint32_t idle_polls_per_look = 1u << 14;

// Holds a receiving lane while its messages are delivered. Also in single-threaded mode: a handler
// may call progress, and must not be given the next message of the lane it came from.
class RxTurn {
 public:
  RxTurn(const cwyc_ep* ep, RxLane& lane)
      : lane_(lane),
        mine_(ep->multithreaded.load(std::memory_order_relaxed) ? lane.lock.try_lock()
                                                                : lane.lock.enter_alone()) {}
  ~RxTurn() {
    if (mine_) lane_.lock.unlock();
  }
  bool mine() const { return mine_; }

 private:
  RxLane& lane_;
  bool mine_;
};

// A sender whose records make no sense is a failed peer: there is no telling what else it writes.
void reject_babbler(cwyc_ep* ep, Receiver& from, const char* what, RecordHeader header) {
  char text[160];
  std::snprintf(text, sizeof text, "it wrote a record that %s (kind %u, %u arguments, %u bytes)",
                what, unsigned(header.kind), unsigned(header.nargs), unsigned(header.length));
  if (!from.rejected.exchange(true, std::memory_order_relaxed)) {
    services->peer_state(ep->params.core_ep,
                         unpack(from.owner.load(std::memory_order_relaxed)).sender, CWY_PEER_FAILED,
                         text);
  }
}

// Bytes of the record, or 0 with what is wrong. Looks at the header's copy only: the sender could
// change the ring's under our hands.
size_t record_bytes(const cwyc_ep* ep, const RecordHeader& h, size_t room, const char*& wrong) {
  size_t size = 0;
  wrong = "has no valid header";
  if (h.check != record_check || h.nargs > CWYC_AM_MAX_ARGS) return 0;
  switch (h.kind) {
    case RecordKind::am_short:
      size = short_bytes(h.nargs);
      break;
    case RecordKind::am_long:
      size = long_bytes(h.nargs);
      break;
    case RecordKind::am_medium:
      wrong = "is longer than a medium may be";
      if (h.length > ep->medium_max) return 0;
      size = medium_bytes(h.nargs, h.length);
      break;
    default:
      return 0;
  }
  wrong = "does not end within the ring";
  return size <= room ? size : 0;
}

// Delivers the record at `at` and returns its bytes, or 0 when it was no record.
size_t deliver(cwyc_ep* ep, Receiver& from, RxLane& lane, char* at, uint64_t word) {
  const RecordHeader h = unpack_header(word);
  const char* wrong = nullptr;
  const size_t size = record_bytes(ep, h, static_cast<size_t>(lane.end - at), wrong);
  if (__builtin_expect(size == 0, 0)) {
    reject_babbler(ep, from, wrong, h);
    return 0;
  }
  uint64_t core_word;
  std::memcpy(&core_word, at + 8, sizeof core_word);
  char* args = at + record_fixed;
  void* payload = nullptr;
  const uint32_t kind = uint32_t(h.kind) - uint32_t(RecordKind::am_short);
  if (h.kind == RecordKind::am_medium) {
    payload = args + args_bytes(h.nargs);
  } else if (h.kind == RecordKind::am_long) {
    uint64_t address;
    std::memcpy(&address, args, sizeof address);
    payload = reinterpret_cast<void*>(address);
    args += 16;
  }
  lane.messages[kind].add(1);
  lane.bytes.add(h.length);
  ep->params.deliver(ep->params.core_ep, unpack(from.owner.load(std::memory_order_relaxed)).sender,
                     core_word, kind, reinterpret_cast<const int32_t*>(args), h.nargs, payload,
                     h.length);
  return size;
}

uint32_t drain(cwyc_ep* ep, Receiver& from, RxLane& lane, uint32_t budget) {
  RxTurn turn(ep, lane);
  if (!turn.mine()) return 0;
  uint32_t delivered = 0;
  bool skipped = false;
  const bool flooded = lane.pace.flooded();
  while (delivered < budget) {
    // Relaxed: only this lane's holder acts on it, by closing its own lane.
    if (__builtin_expect(from.rejected.load(std::memory_order_relaxed), 0)) {
      lane.close();
      break;
    }
    char* const at = lane.at.load(std::memory_order_relaxed);
    // Acquire: pairs with publish(); the record's body is complete.
    const uint64_t word = header_word(at).load(std::memory_order_acquire);
    if (word == 0) break;
    if (__builtin_expect(word == pack_header(RecordKind::skip, 0, 0), 0)) {
      if (skipped) {  // one per lap, or we would run in circles for ever
        reject_babbler(ep, from, "skips twice", unpack_header(word));
        continue;
      }
      skipped = true;
      lane.advance(at, static_cast<size_t>(lane.end - at));
      continue;
    }
    if (flooded) __builtin_prefetch(at + lines_ahead);
    const size_t size = deliver(ep, from, lane, at, word);
    if (size == 0) continue;  // rejected
    lane.advance(at, size);
    skipped = false;
    ++delivered;
  }
  if (delivered != 0 && delivered < budget) lane.pace.emptied();
  return delivered;
}

inline bool worth_a_look(RxLane& lane) {
  if (lane.pace.resting()) return false;
  if (lane.has_record()) return true;
  lane.pace.found_nothing();
  return false;
}

inline uint32_t poll(cwyc_ep* ep, uint16_t index, uint32_t budget, uint32_t which) {
  Receiver& from = ep->receivers[index];
  uint32_t delivered = 0;
  if (worth_a_look(from.lane[reply_lane]))
    delivered = drain(ep, from, from.lane[reply_lane], budget);
  if (which == CWYC_PROGRESS_ALL && delivered < budget && worth_a_look(from.lane[request_lane]))
    delivered += drain(ep, from, from.lane[request_lane], budget - delivered);
  return delivered;
}

// With many senders: the recent ones on every call, the rest in turn, so that a silent sender's
// first message waits for a bounded number of calls.
uint32_t poll_many(cwyc_ep* ep, uint32_t count, uint32_t budget, uint32_t which) {
  constexpr auto relaxed = std::memory_order_relaxed;
  uint32_t delivered = 0;
  for (auto& recent : ep->recent) {
    if (delivered >= budget) break;
    delivered += poll(ep, recent.load(relaxed), budget - delivered, which);
  }
  uint32_t cursor = ep->cursor.load(relaxed);
  for (uint32_t i = 0; i < poll_others && delivered < budget; ++i) {
    if (++cursor >= count) cursor = 0;
    const uint16_t index = ep->polled[cursor];
    const uint32_t n = poll(ep, index, budget - delivered, which);
    if (n == 0) continue;
    delivered += n;
    const uint32_t place = ep->recent_next.fetch_add(1, relaxed) % cwyc_ep::recent_size;
    ep->recent[place].store(index, relaxed);
  }
  ep->cursor.store(cursor, relaxed);
  return delivered;
}

void look_at_the_clock(cwyc_ep* ep) {
  constexpr auto relaxed = std::memory_order_relaxed;
  const uint32_t idle = ep->idle_polls.load(relaxed) + 1;
  ep->idle_polls.store(idle, relaxed);  // lost counts only make the look later
  if (__builtin_expect(idle % idle_polls_per_look == 0, 0)) check_liveness(ep);
}

}  // namespace

uint32_t progress(cwyc_ep* ep, uint32_t budget, uint32_t which) {
  // Relaxed: adopt_slots reads it again with acquire.
  if (__builtin_expect(ep->control->slot_generation.load(std::memory_order_relaxed) !=
                           ep->seen_generation.load(std::memory_order_relaxed),
                       0))
    adopt_slots(ep);
  // Acquire: the receivers listed so far are complete.
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  uint32_t delivered = 0;
  if (count > poll_all_up_to) {
    delivered = poll_many(ep, count, budget, which);
  } else {
    for (uint32_t i = 0; i < count && delivered < budget; ++i)
      delivered += poll(ep, ep->polled[i], budget - delivered, which);
  }
  if (delivered == 0) look_at_the_clock(ep);
  return delivered;
}

bool anything_pending(cwyc_ep* ep) {
  if (ep->control->slot_generation.load(std::memory_order_acquire) !=
      ep->seen_generation.load(std::memory_order_relaxed))
    return true;
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    for (const RxLane& lane : ep->receivers[ep->polled[i]].lane)
      if (lane.has_record()) return true;
  return false;
}

}  // namespace causeway::shm
