// The two ends of one single-producer single-consumer byte ring.
//
// Invariant: in the room that the sender may use, but for the record that it is writing, every line
// of the ring begins with a zero word. A producer writes the record's body and then stores its
// header with release. The consumer clears the first word of each of the record's lines before it
// hands the room back. So a poll is one load, a short message is one line, and a sender only ever
// touches lines whose latest writer was the receiver: those move between the cores in one transfer
// and many at a time, where a line that both had read would first have to be taken back, one after
// the other.
//
// Orders: the header's release meets the acquire in drain(), the head's release the one in
// reserve_slowly(). They carry the body there and the cleared lines back, and every other look is a
// hint. Between a record and the look whether its receiver sleeps stands the receiver's barrier
// alone (sleep.cpp). tests/models/ring.pml has this on a machine weaker than ARM's.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/entry_lock.h>

#include <algorithm>

#include "../common/count.h"
#include "layout.h"
#include "pace.h"

namespace causeway::shm {

inline std::atomic_ref<uint64_t> header_word(char* at) {
  return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(at));
}

// Orders everything before against everything after. The library's fence is refused by the thread
// sanitizer, which does not model fences; nothing it checks here relies on one.
inline void full_fence() {
  __sync_synchronize();
}

// A lock whose holder never waits for anything; taken in multithreaded mode only.
class TryLock {
 public:
  // Acquire: sees what the previous holder did; release in unlock pairs with it.
  bool try_lock() {
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  bool spin(int tries) {
    while (!try_lock()) {
      if (--tries < 0) return false;
      relax();
    }
    return true;
  }
  void unlock() { held_.store(false, std::memory_order_release); }
  // For the single-threaded mode: the same flag without a locked instruction.
  bool enter_alone() {
    if (held_.load(std::memory_order_relaxed)) return false;
    held_.store(true, std::memory_order_relaxed);
    return true;
  }

 private:
  std::atomic<bool> held_{false};
};

// Makes lines begin with a zero word. Relaxed: whoever writes or reads a record there is ordered
// behind it by the record's header or by the head.
inline void clear_lines(char* from, const char* to) {
  for (; from < to; from += record_unit) header_word(from).store(0, std::memory_order_relaxed);
}

// The sending end, private to one way of a connection and lane. The first line is what a short
// message touches, and no other lane's lies in it: threads on two lanes do not disturb each other.
struct alignas(cache_line) TxLane {
  char* at = nullptr;    // where the next record goes; its header word is zero
  char* stop = nullptr;  // records that end before here need no further look
  char* end = nullptr;
  Count messages[3], bytes;
  TryLock lock;
  bool reserved = false;  // between am_prepare and its end
  bool broken = false;    // the receiver's head makes no sense
  uint32_t retry_streak = 0;
  char* base = nullptr;
  uint64_t lap = 0;  // position of `base` in this lap
  // The skip by which this lap began before the ring's end, until the receiver has passed it. The
  // bytes behind it are free, too: the sender skips over it when it comes to what is unread.
  char* back = nullptr;
  std::atomic<uint64_t>* head = nullptr;
  Count retries;

  void open(char* ring, size_t ring_bytes, std::atomic<uint64_t>* shared_head) {
    base = at = stop = ring;
    back = nullptr;
    end = ring + ring_bytes;
    head = shared_head;
    lap = 0;
  }
  void close() { base = at = stop = end = nullptr; }

  size_t ring_bytes() const { return static_cast<size_t>(end - base); }

  // Room for a record of `size` bytes, or nullptr.
  char* reserve(size_t size) {
    if (__builtin_expect(fits_easily(size), 1)) return at;
    return reserve_slowly(size);
  }
  // There is room, and the record does not end where the ring does.
  bool fits_easily(size_t size) const { return size < static_cast<size_t>(stop - at); }

  // Room for records: `here` bytes at `at`, and `there` bytes behind a skip to `to`.
  struct Room {
    size_t here, there;
    char* to;
    uint64_t used;
  };
  Room room() {
    // Acquire: the receiver has finished with everything before its head.
    const uint64_t read = head->load(std::memory_order_acquire);
    if (back != nullptr && read >= lap) back = nullptr;
    const uint64_t used = lap + static_cast<uint64_t>(at - base) - read;
    const auto to_end = static_cast<size_t>(end - at);
    if (back == nullptr) {
      broken = used > ring_bytes();
      if (broken) return {};
      const size_t free = ring_bytes() - static_cast<size_t>(used);
      return {std::min(free, to_end), free > to_end ? free - to_end : 0, base, used};
    }
    // Unread bytes lie from `oldest` to the skip. No record ends at the ring's end, where another
    // lap would begin.
    const uint64_t unread = lap - read;
    broken = unread > ring_bytes() || end - unread > back;
    if (broken) return {};
    if (at > back) return {to_end - record_unit, 0, base, used};
    const char* const oldest = end - unread;
    const auto behind = static_cast<size_t>(end - back) - record_unit;
    return {static_cast<size_t>(oldest - at) - record_unit,
            behind > record_unit ? behind - record_unit : 0, back + record_unit, used};
  }

  // Makes the record at `at` visible; one that fits_easily() and ends at `next`.
  void publish_inside(char* record, char* next, uint64_t header) {
    // Release: whoever sees the header sees the body.
    header_word(record).store(header, std::memory_order_release);
    at = next;
  }

  // Makes any record at `at` visible.
  void publish(size_t size, uint64_t header) {
    char* const record = at;
    char* next = record + size;
    if (__builtin_expect(next == end, 0)) {
      next = stop = base;
      lap += ring_bytes();
    }
    // Release: whoever sees the header sees the body.
    header_word(record).store(header, std::memory_order_release);
    at = next;
  }

 private:
  // A sender whose receiver keeps up goes back to the ring's start once it is so many bytes beyond,
  // so that both cores find the lines in their nearest caches. Such a sender looks twice as often.
  static constexpr size_t near_bytes = 12 << 10;

  char* reserve_slowly(size_t size) {
    if (reserved || base == nullptr) return nullptr;
    const Room r = room();
    const bool keeps_up = r.used <= near_bytes;
    // A line of the room in front of `back` stays for the skip over it.
    const bool early =
        keeps_up && at - base >= std::ptrdiff_t(near_bytes) && size + record_unit <= r.there;
    size_t here = r.here;
    if (early || size > here) {
      if (size > r.there) return nullptr;
      here = early ? r.there - record_unit : r.there;
      skip_to(r.to, early);
    }
    stop = at + (keeps_up ? std::min(here, std::max(size, near_bytes / 2)) : here);
    retry_streak = 0;
    return at;
  }

  void skip_to(char* to, bool early) {
    const size_t length = to == base ? 0 : static_cast<size_t>(to - at);
    header_word(at).store(pack_header(RecordKind::skip, 0, length), std::memory_order_release);
    if (to == base) {
      lap += ring_bytes();
      back = early ? at : nullptr;
    }
    at = to;
  }
};

// Where closed lanes read: never a message.
alignas(cache_line) inline uint64_t no_record = 0;

// The receiving end of one sender's lane. The first line is what each poll and message touches.
struct alignas(cache_line) RxLane {
  // The next record's header. Written by the holder of `lock`; others only peek, and a stale
  // answer costs them one vain look: relaxed.
  std::atomic<char*> at{reinterpret_cast<char*>(&no_record)};
  Pace pace;
  char* end = nullptr;
  char* tell = nullptr;  // from here on the sender is to be told how far reading has come
  Count messages[3], bytes;
  uint32_t finds = 0;  // messages after which the next line was not looked at, mostly
  // The bytes between here and `at` have been read and are still to be cleared.
  char* swept = nullptr;
  char* base = nullptr;
  uint64_t lap = 0;
  uint64_t published = 0;
  std::atomic<uint64_t>* head = nullptr;
  TryLock lock;

  void open(char* ring, size_t ring_bytes, std::atomic<uint64_t>* shared_head) {
    base = swept = ring;
    end = ring + ring_bytes;
    tell = ring + ring_bytes / tell_parts;
    lap = published = 0;
    head = shared_head;
    at.store(ring, std::memory_order_relaxed);
  }
  void close() {
    at.store(reinterpret_cast<char*>(&no_record), std::memory_order_relaxed);
    base = end = tell = nullptr;
  }
  bool is_open() const { return base != nullptr; }

  // Relaxed: a hint only; whoever acts on it reads again with acquire.
  bool has_record() const {
    return header_word(at.load(std::memory_order_relaxed)).load(std::memory_order_relaxed) != 0;
  }

  // Is there something so many lines on? As a hint: longer records have anything there, written
  // without order, which the thread sanitizer would report where both ends are one process.
  __attribute__((no_sanitize("thread"))) bool has_record_behind(size_t lines) const {
    const char* line = at.load(std::memory_order_relaxed) + lines * cache_line;
    if (line >= end) line -= end - base;
    return header_word(const_cast<char*>(line)).load(std::memory_order_relaxed) != 0;
  }

  // Clears what has been read, up to there.
  void sweep(char* to) {
    clear_lines(swept, to);
    swept = to;
  }

  // Moves past a record that ends at `next` and whose lines before `used` were written.
  void move_past(char* next, const char* used) {
    if (__builtin_expect(next < tell, 1)) {
      at.store(next, std::memory_order_relaxed);
      if (next - swept >= at_once) sweep(next);
    } else {
      clear_lines(swept, used);
      advance_slowly(next);
      swept = at.load(std::memory_order_relaxed);
    }
  }

 private:
  // Lines are cleared some records at a time. Such a store waits for its line to come back from the
  // sender's core, and the stores behind it wait with it: those of the handlers in a flood, and the
  // next request of a client that had its answer.
  static constexpr std::ptrdiff_t at_once = 16 * cache_line;

  // Wraps around; tells the sender when another part of the ring has been read and is clear.
  __attribute__((noinline)) void advance_slowly(char* next) {
    const size_t ring_bytes = static_cast<size_t>(end - base);
    if (next == end) {
      next = base;
      lap += ring_bytes;
    }
    at.store(next, std::memory_order_relaxed);
    const uint64_t position = lap + static_cast<uint64_t>(next - base);
    if (position - published >= ring_bytes / tell_parts) {
      published = position;
      // Release: the records before have been read and may be overwritten.
      head->store(position, std::memory_order_release);
    }
    const uint64_t ahead = published + ring_bytes / tell_parts - position;
    tell = ahead < static_cast<uint64_t>(end - next) ? next + ahead : end;
  }
};

}  // namespace causeway::shm
