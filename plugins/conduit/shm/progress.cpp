// The receiving side: which senders there are, and delivering what they sent.
#include <cstdio>
#include <cstring>

#include "endpoint.h"

namespace causeway::shm {
namespace {

// Up to so many senders every call polls all; beyond, the recent ones and so many others.
constexpr uint32_t poll_all_up_to = 16;
constexpr uint32_t poll_others = 8;

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
    conduit::tell_peer_state(ep->params, unpack(from.owner.load(std::memory_order_relaxed)).sender,
                             CWY_PEER_FAILED, text);
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
size_t deliver(cwyc_ep* ep, Receiver& from, RxLane& lane, cwy_peer sender, char* at,
               uint64_t word) {
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
  ep->params.deliver(ep->params.core_ep, sender, core_word, kind,
                     reinterpret_cast<const int32_t*>(args), h.nargs, payload, h.length);
  return size;
}

// Bytes of the record if it is a short message, or 0 for take_other().
inline size_t bytes_if_short(uint64_t word, size_t room) {
  constexpr uint64_t nargs_mask = 0xff00;
  if ((word & ~nargs_mask) != pack_header(RecordKind::am_short, 0, 0)) return 0;
  const auto nargs = static_cast<uint32_t>(word >> 8) & 0xff;
  const size_t size = short_bytes(nargs);
  return nargs <= CWYC_AM_MAX_ARGS && size <= room ? size : 0;
}

// Takes a record that is no short message. Answers the bytes to move on by, or 0 when the sender
// was rejected.
__attribute__((noinline)) size_t take_other(cwyc_ep* ep, Receiver& from, RxLane& lane,
                                            cwy_peer sender, char* at, uint64_t word) {
  if (__builtin_expect(!is_skip(word), 1)) return deliver(ep, from, lane, sender, at, word);
  const RecordHeader h = unpack_header(word);
  const auto to_end = static_cast<size_t>(lane.end - at);
  // The whole ring is skipped by no sender: this loop would run in circles for ever.
  if (h.check != record_check || h.length % record_unit != 0 ||
      (h.length == 0 ? at == lane.base : h.length >= to_end)) {
    reject_babbler(ep, from, "skips more than there is", h);
    return 0;
  }
  return h.length != 0 ? h.length : to_end;
}

// A look at the next line can cost a transfer between cores, and whoever waited for the message
// just delivered would wait for that as well. So after one message the next line is left for the
// next call, unless there is reason to expect a message there; now and then it is looked at
// nevertheless, since that is how a flood shows.
inline bool leave_next_line(RxLane& lane) {
  constexpr uint32_t looks = 8;
  return lane.pace.idle() && ++lane.finds % looks != 0;
}

__attribute__((noinline)) uint32_t drain(cwyc_ep* ep, Receiver& from, RxLane& lane,
                                         uint32_t budget) {
  RxTurn turn(ep, lane);
  if (!turn.mine()) return 0;
  // Does not change while we hold a lane.
  const cwy_peer sender = unpack(from.owner.load(std::memory_order_relaxed)).sender;
  uint32_t delivered = 0;
  StepWatch watch;
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
    size_t size = bytes_if_short(word, static_cast<size_t>(lane.end - at));
    if (__builtin_expect(size != 0, 1)) {
      uint64_t core_word;
      std::memcpy(&core_word, at + 8, sizeof core_word);
      lane.messages[CWYC_AM_SHORT].add(1);
      ep->params.deliver(ep->params.core_ep, sender, core_word, CWYC_AM_SHORT,
                         reinterpret_cast<const int32_t*>(at + record_fixed),
                         static_cast<uint32_t>(word >> 8) & 0xff, nullptr, 0);
      ++delivered;
    } else {
      size = take_other(ep, from, lane, sender, at, word);
      if (size == 0) continue;  // rejected
      delivered += !is_skip(word);
    }
    lane.move_past(at + size, is_skip(word) ? at + record_unit : at + size);
    if (delivered == 1 && leave_next_line(lane)) return 1;
    if (__builtin_expect(
            watch.in_step(delivered, [&](size_t lines) { return lane.has_record_behind(lines); }),
            0)) {
      lane.pace.rest();
      return delivered;
    }
  }
  if (delivered != 0 && delivered < budget) lane.pace.emptied(delivered);
  return delivered;
}

// Is the lane not resting, and nothing in it?
inline bool is_quiet(const RxLane& lane) {
  return lane.pace.idle() && !lane.has_record();
}

inline uint32_t poll_lane(cwyc_ep* ep, Receiver& from, RxLane& lane, uint32_t budget) {
  const bool paced = !lane.pace.idle();
  if (paced && !lane.pace.rested()) return 0;
  if (lane.has_record()) return drain(ep, from, lane, budget);
  if (paced) lane.pace.found_nothing();
  return 0;
}

uint32_t poll(cwyc_ep* ep, Receiver& from, uint32_t budget, uint32_t which) {
  uint32_t delivered = poll_lane(ep, from, from.lane[reply_lane], budget);
  if (which == CWYC_PROGRESS_ALL && delivered < budget)
    delivered += poll_lane(ep, from, from.lane[request_lane], budget - delivered);
  return delivered;
}

// With many senders: the recent ones on every call, the rest in turn, so that a silent sender's
// first message waits for a bounded number of calls.
__attribute__((noinline)) uint32_t poll_many(cwyc_ep* ep, uint32_t count, uint32_t budget,
                                             uint32_t which) {
  constexpr auto relaxed = std::memory_order_relaxed;
  uint32_t delivered = 0;
  for (auto& recent : ep->recent) {
    if (delivered >= budget) break;
    delivered += poll(ep, *recent.load(std::memory_order_acquire), budget - delivered, which);
  }
  uint32_t cursor = ep->cursor.load(relaxed);
  for (uint32_t i = 0; i < poll_others && delivered < budget; ++i) {
    if (++cursor >= count) cursor = 0;
    Receiver& from = *ep->polled[cursor];
    const uint32_t n = poll(ep, from, budget - delivered, which);
    if (n == 0) continue;
    delivered += n;
    const uint32_t place = ep->recent_next.fetch_add(1, relaxed) % cwyc_ep::recent_size;
    ep->recent[place].store(&from, std::memory_order_release);
  }
  ep->cursor.store(cursor, relaxed);
  return delivered;
}

// Several threads count each for itself: a line that all of them write would cost every poll a
// transfer.
__attribute__((noinline)) uint32_t count_of_thread(cwyc_ep* ep) {
  std::atomic<uint32_t>& polls = ep->idle_of_thread[my_number()].polls;
  const uint32_t count = polls.load(std::memory_order_relaxed) + 1;
  polls.store(count, std::memory_order_relaxed);
  if (__builtin_expect(count % idle_polls_per_look == 0, 0)) check_liveness(ep);
  return 0;
}

__attribute__((noinline)) uint32_t look_at_the_clock(cwyc_ep* ep) {
  if (ep->multithreaded.load(std::memory_order_relaxed)) return count_of_thread(ep);
  ep->idle_polls.store(0, std::memory_order_relaxed);
  check_liveness(ep);
  return 0;
}

inline uint32_t nothing_found(cwyc_ep* ep) {
  const uint32_t idle = ep->idle_polls.load(std::memory_order_relaxed) + 1;
  if (__builtin_expect(idle >= idle_polls_per_look, 0)) return look_at_the_clock(ep);
  ep->idle_polls.store(idle, std::memory_order_relaxed);
  return 0;
}

// From the `first` entry on, before which nothing was found.
__attribute__((noinline)) uint32_t poll_from(cwyc_ep* ep, uint32_t first, uint32_t count,
                                             uint32_t budget, uint32_t which) {
  uint32_t delivered = 0;
  for (uint32_t i = first; i < count && delivered < budget; ++i)
    delivered += poll(ep, *ep->polled[i], budget - delivered, which);
  return delivered != 0 ? delivered : nothing_found(ep);
}

// Everything that is rare: new senders, many senders.
__attribute__((noinline)) uint32_t progress_in_full(cwyc_ep* ep, uint32_t budget, uint32_t which) {
  // Relaxed: adopt_slots reads it again with acquire.
  if (ep->control->slot_generation.load(std::memory_order_relaxed) !=
      ep->seen_generation.load(std::memory_order_relaxed))
    adopt_slots(ep);
  // Acquire: the receivers listed so far are complete.
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  if (count <= poll_all_up_to) return poll_from(ep, 0, count, budget, which);
  const uint32_t delivered = poll_many(ep, count, budget, which);
  return delivered != 0 ? delivered : nothing_found(ep);
}

}  // namespace

// Most calls find nothing, and a waiting client sees a message the sooner the shorter they are: so
// this function only looks, and calls nobody who would need a frame.
uint32_t Conduit::progress(cwyc_ep* ep, uint32_t budget, uint32_t which) {
  // Acquire: the receivers listed so far are complete.
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  // Relaxed: adopt_slots reads it again with acquire.
  if (__builtin_expect(
          count > poll_all_up_to || ep->control->slot_generation.load(std::memory_order_relaxed) !=
                                        ep->seen_generation.load(std::memory_order_relaxed),
          0))
    return progress_in_full(ep, budget, which);
  for (uint32_t i = 0; i < count; ++i) {
    const Receiver& from = *ep->polled[i];
    if (!is_quiet(from.lane[reply_lane]) ||
        (which == CWYC_PROGRESS_ALL && !is_quiet(from.lane[request_lane])))
      return poll_from(ep, i, count, budget, which);
  }
  return nothing_found(ep);
}

bool anything_pending(cwyc_ep* ep) {
  if (ep->control->slot_generation.load(std::memory_order_acquire) !=
      ep->seen_generation.load(std::memory_order_relaxed))
    return true;
  const uint32_t count = ep->polled_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    for (const RxLane& lane : ep->polled[i]->lane)
      if (lane.has_record()) return true;
  return false;
}

}  // namespace causeway::shm
