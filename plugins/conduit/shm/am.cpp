// Active messages, sending side.
#include <algorithm>
#include <cstring>

#include "endpoint.h"
#include "rma.h"
#include "room.h"

namespace causeway::shm {
namespace {

// How long a thread of a multithreaded process looks for its turn before it answers RETRY. The
// holder copies at most one message, or is preempted, or fills a negotiated payload.
constexpr int lane_tries = 2000;
// Threads that met so often on a connection get one more way to its peer.
constexpr uint32_t meetings_to_widen = 16;
// Liveness costs a system call; a full ring normally drains within microseconds.
constexpr uint32_t retries_per_check = 4096;

// Takes a lane when another thread holds the one that this thread used last. Any other way to the
// peer will do, and where threads keep meeting one more way is opened. Answers the lane, locked, or
// nullptr.
__attribute__((noinline)) TxLane* enter_elsewhere(Connection& c, uint32_t which,
                                                  std::atomic<uint8_t>& way) {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (!c.at_widest.load(relaxed) &&
      c.meetings.fetch_add(1, relaxed) % meetings_to_widen == meetings_to_widen - 1)
    widen(c);
  const uint32_t from = way.load(std::memory_order_acquire), ways = c.ways();
  for (int tries = 0; tries < lane_tries; ++tries) {
    for (uint32_t i = 1; i <= ways; ++i) {
      const uint32_t at = (from + i) % ways;
      TxLane& lane = c.lane_of(at, which);
      if (!lane.lock.try_lock()) continue;
      if (at != from) way.store(static_cast<uint8_t>(at), std::memory_order_release);
      return &lane;
    }
    relax();
  }
  return nullptr;
}

inline TxLane* enter(Connection& c, uint32_t which) {
  std::atomic<uint8_t>& way = c.way[my_number()];
  TxLane& lane = c.lane_of(way.load(std::memory_order_acquire), which);
  if (__builtin_expect(lane.lock.try_lock(), 1)) return &lane;
  return enter_elsewhere(c, which, way);
}

// Holds a sending lane for one call.
class TxTurn {
 public:
  TxTurn(cwyc_conn* conn, Connection& c, uint32_t which)
      : locked_(conn->ep->multithreaded.load(std::memory_order_relaxed)),
        lane_(locked_ ? enter(c, which) : &c.lane[which]) {}
  ~TxTurn() {
    if (locked_ && mine()) lane_->lock.unlock();
  }
  bool mine() const { return lane_ != nullptr; }
  TxLane& lane() const { return *lane_; }
  // The lane stays taken beyond this object.
  bool keep() {
    const bool kept = locked_;
    locked_ = false;
    return kept;
  }

 private:
  bool locked_;
  TxLane* lane_;
};

// A record is written from its end to its beginning: the receiver keeps reading the line of the
// header, so that line is touched once, last. The compiler must leave that order alone.
inline void keep_order() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Backwards, two at a time.
inline void copy_args(char* to, const int32_t* args, uint32_t nargs) {
  uint32_t left = nargs;
  if (left & 1) {
    --left;
    std::memcpy(to + left * sizeof *args, args + left, sizeof *args);
    keep_order();
  }
  while (left != 0) {
    left -= 2;
    std::memcpy(to + left * sizeof *args, args + left, 2 * sizeof *args);
    keep_order();
  }
}

// Bytes that share the header's line are copied last.
inline void copy_payload(const char* record, char* to, const void* from, size_t length) {
  const size_t in_line = cache_line - (reinterpret_cast<uintptr_t>(record) % cache_line);
  const auto before = static_cast<size_t>(to - record);
  const size_t first = std::min(in_line > before ? in_line - before : 0, length);
  std::memcpy(to + first, static_cast<const char*>(from) + first, length - first);
  keep_order();
  if (first != 0) std::memcpy(to, from, first);
}

inline void put_word(char* record, uint64_t word) {
  std::memcpy(record + 8, &word, sizeof word);
}

// After a record was published. Order: the compiler must not read the flag before the header is
// stored. The processor may; the sleeper's membarrier (or its bounded nap) covers that, so that
// senders pay no fence.
inline bool sleeps(const Connection& c) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return __builtin_expect(c.peer_control->sleeping.load(std::memory_order_relaxed) != 0, 0);
}

// There is no room: back-pressure, or is the receiver gone?
cwy_status why_no_room(Connection& c, TxLane& lane) {
  lane.retries.add(1);
  if (sleeps(c)) wake_slowly(c);  // for a skip, which no record may have followed
  if (lane.broken) {
    if (!c.failed.exchange(true, std::memory_order_relaxed))
      conduit::tell_peer_state(c.conn->ep->params, c.conn->peer, CWY_PEER_FAILED,
                               "its message queue is corrupt: it acknowledges what was never sent");
    return CWY_ERR_PEER_FAILED;
  }
  if (++lane.retry_streak % retries_per_check == 0 && check_peer(c)) return CWY_ERR_PEER_FAILED;
  return CWY_RETRY;
}

inline void publish(Connection& c, TxLane& lane, size_t size, uint64_t header) {
  lane.publish(size, header);
  if (sleeps(c)) wake_slowly(c);
}

__attribute__((noinline, cold)) cwy_status wake_and_accept(Connection& c) {
  wake_slowly(c);
  return CWY_OK;
}

// The whole of am_short: another thread in the lane, the ring's end, no room, a dead peer, a wrong
// count.
__attribute__((noinline)) cwy_status am_short_in_full(cwyc_conn* conn, uint64_t word,
                                                      const int32_t* args, uint32_t nargs,
                                                      uint32_t flags) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  Connection& c = connection(conn);
  if (c.has_failed()) return CWY_ERR_PEER_FAILED;
  TxTurn turn(conn, c, flags & CWYC_LANE_REPLY);
  if (!turn.mine()) return CWY_RETRY;
  TxLane& lane = turn.lane();
  const size_t size = short_bytes(nargs);
  char* record = lane.reserve(size);
  if (__builtin_expect(record == nullptr, 0)) return why_no_room(c, lane);
  copy_args(record + record_fixed, args, nargs);
  put_word(record, word);
  lane.messages[CWYC_AM_SHORT].add(1);
  publish(c, lane, size, pack_header(RecordKind::am_short, nargs, 0));
  return CWY_OK;
}

// A short message into a lane that is the caller's and has easy room.
inline void write_short(TxLane& lane, uint64_t word, const int32_t* args, uint32_t nargs,
                        size_t size) {
  char* const record = lane.at;
  char* const next = record + size;
  copy_args(record + record_fixed, args, nargs);
  put_word(record, word);
  lane.messages[CWYC_AM_SHORT].add(1);
  lane.publish_inside(record, next, pack_header(RecordKind::am_short, nargs, 0));
}

// A short message in a process of several threads, by a lane that is free: the lock is all that
// this adds. Acquire and release, as TryLock says: the lane's fields are those that its last holder
// left.
__attribute__((noinline)) cwy_status am_short_of_several(cwyc_conn* conn, uint64_t word,
                                                         const int32_t* args, uint32_t nargs,
                                                         uint32_t flags) {
  Connection& c = connection(conn);
  const size_t size = short_bytes(nargs);
  TxLane& lane =
      c.lane_of(c.way[my_number()].load(std::memory_order_acquire), flags & CWYC_LANE_REPLY);
  if (__builtin_expect(nargs > CWYC_AM_MAX_ARGS || c.has_failed() || !lane.lock.try_lock(), 0))
    return am_short_in_full(conn, word, args, nargs, flags);
  if (__builtin_expect(!lane.fits_easily(size), 0)) {
    lane.lock.unlock();
    return am_short_in_full(conn, word, args, nargs, flags);
  }
  write_short(lane, word, args, nargs, size);
  lane.lock.unlock();
  if (sleeps(c)) return wake_and_accept(c);
  return CWY_OK;
}

}  // namespace

// The common case, without a lock to remember or a frame to set up.
cwy_status Conduit::am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                             uint32_t flags) {
  // Threads first: the lane is another's to look at when there are several.
  if (__builtin_expect(conn->ep->multithreaded.load(std::memory_order_relaxed), 0))
    return am_short_of_several(conn, word, args, nargs, flags);
  Connection& c = connection(conn);
  TxLane& lane = c.lane[flags & CWYC_LANE_REPLY];
  const size_t size = short_bytes(nargs);
  if (__builtin_expect(nargs > CWYC_AM_MAX_ARGS || c.has_failed() || !lane.fits_easily(size), 0))
    return am_short_in_full(conn, word, args, nargs, flags);
  write_short(lane, word, args, nargs, size);
  if (sleeps(c)) return wake_and_accept(c);
  return CWY_OK;
}

cwy_status Conduit::am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                              const void* payload, cwyc_mem*, size_t length, uint32_t flags,
                              cwyc_op*) {
  Connection& c = connection(conn);
  if (__builtin_expect(nargs > CWYC_AM_MAX_ARGS || length > c.peer_control->medium_max, 0))
    return CWY_ERR_INVALID;
  if (__builtin_expect(c.has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  TxTurn turn(conn, c, flags & CWYC_LANE_REPLY);
  if (!turn.mine()) return CWY_RETRY;
  TxLane& lane = turn.lane();
  const size_t size = medium_bytes(nargs, length);
  char* record = lane.reserve(size);
  if (__builtin_expect(record == nullptr, 0)) return why_no_room(c, lane);
  if (length != 0) copy_payload(record, record + record_fixed + args_bytes(nargs), payload, length);
  copy_args(record + record_fixed, args, nargs);
  put_word(record, word);
  lane.messages[CWYC_AM_MEDIUM].add(1);
  lane.bytes.add(length);
  publish(c, lane, size, pack_header(RecordKind::am_medium, nargs, length));
  return CWY_OK;
}

cwy_status Conduit::am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                            const void* payload, cwyc_mem*, size_t length, uint64_t raddr,
                            cwyc_rkey* rkey, uint32_t flags, cwyc_op*) {
  if (nargs > CWYC_AM_MAX_ARGS || length > UINT32_MAX) return CWY_ERR_INVALID;
  Connection& c = connection(conn);
  if (__builtin_expect(c.has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  TxTurn turn(conn, c, flags & CWYC_LANE_REPLY);
  if (!turn.mine()) return CWY_RETRY;
  TxLane& lane = turn.lane();
  const size_t size = long_bytes(nargs);
  char* record = lane.reserve(size);  // before the payload moves: RETRY must cost nothing
  if (__builtin_expect(record == nullptr, 0)) return why_no_room(c, lane);
  if (length != 0) {
    const cwy_status status = write_remote(*rkey, raddr, payload, length);
    if (status != CWY_OK) return status;
  }
  copy_args(record + record_fixed + 16, args, nargs);
  std::memcpy(record + record_fixed, &raddr, sizeof raddr);
  put_word(record, word);
  lane.messages[CWYC_AM_LONG].add(1);
  lane.bytes.add(length);
  publish(c, lane, size, pack_header(RecordKind::am_long, nargs, length));
  return CWY_OK;
}

// ---- negotiated mediums: the payload is written where the receiver will read it -----------------

cwy_status Conduit::am_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                               uint32_t flags, cwyc_am_slot* slot) {
  Connection& c = connection(conn);
  const size_t medium_max = c.peer_control->medium_max;
  if (nargs > CWYC_AM_MAX_ARGS || least > medium_max || least > most) return CWY_ERR_INVALID;
  if (__builtin_expect(c.has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  TxTurn turn(conn, c, flags & CWYC_LANE_REPLY);
  if (!turn.mine()) return CWY_RETRY;
  TxLane& lane = turn.lane();
  size_t room = std::min(most, medium_max);
  char* record = lane.reserve(medium_bytes(nargs, room));
  if (record == nullptr && room > least) {
    room = std::clamp(medium_room(lane, nargs), least, room);
    record = lane.reserve(medium_bytes(nargs, room));
  }
  if (record == nullptr) return why_no_room(c, lane);
  slot->buffer = record + record_fixed + args_bytes(nargs);
  slot->length = room;
  slot->priv[0] = reinterpret_cast<uint64_t>(&lane);
  slot->priv[1] = reinterpret_cast<uint64_t>(lane.stop);
  // A thread that posts on this lane meanwhile finds no room, looks at `reserved`, and is sent
  // away.
  lane.stop = lane.at;
  lane.reserved = true;
  slot->priv[2] = turn.keep() ? 1 : 0;
  return CWY_OK;
}

namespace {

// `used`: bytes that the record takes after all. The client may have written the rest, too.
TxLane& end_reservation(cwyc_am_slot* slot, size_t used) {
  TxLane& lane = *reinterpret_cast<TxLane*>(slot->priv[0]);
  clear_lines(lane.at + used, static_cast<char*>(slot->buffer) + slot->length);
  lane.reserved = false;
  lane.stop = reinterpret_cast<char*>(slot->priv[1]);
  return lane;
}

}  // namespace

void Conduit::am_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                        uint32_t nargs, size_t length) {
  Connection& c = connection(conn);
  const size_t size = medium_bytes(nargs, length);
  TxLane& lane = *reinterpret_cast<TxLane*>(slot->priv[0]);
  // Room was made for as many arguments as am_prepare heard of; with fewer, the payload moves up.
  char* const payload = lane.at + record_fixed + args_bytes(nargs);
  if (payload != slot->buffer) std::memmove(payload, slot->buffer, length);
  end_reservation(slot, size);
  copy_args(lane.at + record_fixed, args, nargs);
  put_word(lane.at, word);
  lane.messages[CWYC_AM_MEDIUM].add(1);
  lane.bytes.add(length);
  publish(c, lane, size, pack_header(RecordKind::am_medium, nargs, length));
  if (slot->priv[2] != 0) lane.lock.unlock();
}

void Conduit::am_cancel(cwyc_conn*, cwyc_am_slot* slot) {
  TxLane& lane = end_reservation(slot, record_unit);
  if (slot->priv[2] != 0) lane.lock.unlock();
}

}  // namespace causeway::shm
