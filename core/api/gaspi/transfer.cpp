#include "api/gaspi/transfer.h"

#include <causeway/tools/atomics.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "am/internal.h"
#include "api/gaspi/messages.h"
#include "base/error.h"
#include "base/membarrier.h"
#include "connection/post_once.h"
#include "object/endpoint.h"
#include "progress/poll.h"
#include "rma/split_ops.h"
#include "staging/transfer.h"
#include "thread/tsan_annotations.h"

namespace causeway::gaspi {
namespace {

constexpr uint32_t kBoth = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;

// The connection, made if need be; CWY_RETRY while it is being made.
cwy_status connection(World& w, uint32_t rank, std::atomic<cwyc_conn*> Peer::*slot,
                      cwyc_conn** out) {
  Peer& peer = w.peer(rank);
  *out = (peer.*slot).load(std::memory_order_acquire);
  if (__builtin_expect(*out != &peer.stub, 1)) return CWY_OK;
  const gaspi_return_t connected = try_connect(w, rank);
  if (connected == GASPI_TIMEOUT) return CWY_RETRY;
  if (connected != GASPI_SUCCESS) return CWY_ERR_UNREACHABLE;
  *out = (peer.*slot).load(std::memory_order_acquire);
  return CWY_OK;
}

// An end in device memory: core/staging finds the way.
bool is_on_device(const Piece& p) {
  return p.local->on_device || p.remote->data.device != nullptr;
}

cwy_status device_once(const Piece& p, cwyc_conn* conn, bool put, cwyc_op* op) {
  return transfer_segments(
      {put ? "gaspi_write()" : "gaspi_read()", conn, put, address_of(p),
       p.local->data->registration(Connection::of(conn).cep->conduit),
       p.remote->base + p.remote_offset, p.size, p.remote->data.device.get(),
       put ? p.remote->put_key : p.remote->get_key, p.remote->direct, p.remote->delta},
      op);
}

// Of the connection that carries both puts to the piece's rank and messages, if a put reaches the
// piece.
constexpr cwyc_class_attr kNoWay{};
const cwyc_class_attr& way_to(const World& w, const Piece& p) {
  const Peer& peer = w.peer(p.remote->rank);
  cwyc_conn* const conn = peer.put.load(std::memory_order_acquire);
  if (conn == &peer.stub || conn != peer.am.load(std::memory_order_acquire) || is_on_device(p) ||
      p.remote->put_over_am.load(std::memory_order_relaxed))
    return kNoWay;
  return *Connection::of(conn).attr;
}

// Does the conduit keep messages behind this put? Then its notification need not wait for it.
// Beyond the limit the round trip saved is little beside the transfer, and over TCP what is queued
// behind half a transfer was seen to cost a tenth more.
constexpr uint64_t kAhead = 64 << 10;
bool stays_ahead(const cwyc_class_attr& way, const Piece& p) {
  constexpr uint64_t kOrdered = CWYC_CAP_PUT | CWYC_CAP_ORDER_PUT_AM;
  return (way.caps & kOrdered) == kOrdered && p.size <= std::min(kAhead, way.rma_max);
}
// Else: can it write the piece and deliver a message behind that in one operation?
bool fits_long(const cwyc_class_attr& way, const Piece& p) {
  constexpr uint64_t kEither = CWYC_CAP_AM_LONG | CWYC_CAP_ORDER_PUT_AM;
  return (way.caps & kEither) == CWYC_CAP_AM_LONG && p.size <= way.am_long_max;
}

enum class Direction { put, get };

template <Direction direction>
cwy_status transfer_once(World& w, Queue& queue, const Piece& p, Request* request) {
  cwyc_op* const op = &request->op;
  constexpr bool kPut = direction == Direction::put;
  cwyc_conn* conn = nullptr;
  const cwy_status status = connection(w, p.remote->rank, kPut ? &Peer::put : &Peer::get, &conn);
  if (status != CWY_OK) return status;
  if (conn->peer.epoch != p.remote->epoch) return CWY_ERR_PEER_FAILED;
  if (__builtin_expect(is_on_device(p), 0)) return device_once(p, conn, kPut, op);
  Connection& c = Connection::of(conn);
  const uint64_t raddr = p.remote->base + p.remote_offset;
  std::atomic<bool>& over_am = kPut ? p.remote->put_over_am : p.remote->get_over_am;
  const auto rights = [&] {
    return Rights{p.local->data->registration(c.cep->conduit),
                  kPut ? p.remote->put_key : p.remote->get_key, &over_am};
  };
  const auto native = [&] {
    const Rights r = rights();
    if constexpr (kPut)
      return conn->ops->put(conn, address_of(p), r.lmem, raddr, r.rkey, p.size, 0, op);
    else
      return conn->ops->get(conn, address_of(p), r.lmem, raddr, r.rkey, p.size, 0, op);
  };
  const auto emulated = [&] {
    // Made of messages or of parts, which no message stays behind.
    if (kPut && request->step == nullptr) queue.hold_back(request);
    return post_by_member(c, kPut, address_of(p), raddr, p.size, 0, op, rights());
  };
  return post_native_or_emulated(p.size <= c.attr->rma_max, over_am, native, emulated);
}

// Posts one request until it is accepted.
template <typename Post>
gaspi_return_t post_request(World& w, Queue& queue, uint32_t rank, Request* request,
                            Deadline& deadline, Post&& post_once) {
  const gaspi_return_t result = wait_for(deadline, [&] {
    if (!w.may_send(rank, request->epoch)) return GASPI_ERROR;
    const cwy_status status = post_once();
    if (status == CWY_RETRY) return GASPI_TIMEOUT;
    if (status == CWY_OK) queue.finish_at_once(request);
    return !is_error(status) ? GASPI_SUCCESS : operation_error(w, rank, request->epoch, status);
  });
  if (result != GASPI_SUCCESS) queue.take_back(request);
  return result;
}

// Largest payload that travels in one message with its notification; where there is no native put,
// the message carries what it can. Over TCP one message takes half to three quarters of a put and a
// message (tests/perf/results/gaspi.md). A network that writes by itself saves its second message,
// and pays for two copies: not measured.
constexpr uint64_t kEager = 16 << 10;
uint64_t eager_limit(const Connection& c, const Piece& p) {
  if (is_on_device(p)) return 0;
  const uint64_t most = c.attr->am_medium_max;
  const bool native = !p.remote->put_over_am.load(std::memory_order_relaxed);
  return native ? std::min(most, kEager) : most;
}

using Args = int32_t[CWYC_AM_MAX_ARGS];

void describe_write_note(const Piece& p, const Note& note, cwyc_op* op, Args& args) {
  const uint64_t slot = note.segment->slots + note.id * sizeof(uint64_t);
  const uint64_t raddr = p.remote->base + p.remote_offset;
  const auto cookie = reinterpret_cast<uint64_t>(op);
  hand_over(op);
  const int32_t facts[kWriteNoteArgs] = {static_cast<int32_t>(Message::write_note),
                                         low_half(slot),
                                         high_half(slot),
                                         static_cast<int32_t>(note.value),
                                         low_half(cookie),
                                         high_half(cookie),
                                         low_half(raddr),
                                         high_half(raddr)};
  std::memcpy(args, facts, sizeof facts);
}

cwy_status write_note_once(World& w, const Piece& p, const Note& note, cwyc_op* op) {
  if (!w.may_send(note.rank, note.segment->epoch)) return CWY_ERR_PEER_FAILED;
  Args args;
  describe_write_note(p, note, op, args);
  if (p.size > kInArgs)
    return send_with_acknowledgements(w, note.rank, args, kWriteNoteArgs, address_of(p), p.size);
  if (p.size == 0)
    return send_with_acknowledgements(w, note.rank, args, kWriteNoteArgs, nullptr, 0);
  args[0] |= static_cast<int32_t>(p.size << 8);
  std::memcpy(args + kWriteNoteArgs, address_of(p), p.size);
  return send_with_acknowledgements(w, note.rank, args, kWriteNoteArgs + 2, nullptr, 0);
}

// The data written where it belongs, and the message behind it: both by the conduit. Its op tells
// of the source, and the target's answer of the rest.
cwy_status long_note_once(World& w, const Piece& p, const Note& note, Request* request) {
  cwyc_conn* const conn = w.peer(note.rank).am.load(std::memory_order_acquire);
  if (!w.may_send(note.rank, note.segment->epoch) || conn->peer.epoch != p.remote->epoch)
    return CWY_ERR_PEER_FAILED;
  Args args;
  describe_write_note(p, note, &request->op, args);
  request->answer = CWYC_DONE_REMOTE;
  const cwy_status status = conn->ops->am_long(
      conn, internal_word(Internal::interface, false), args, kWriteNoteArgs, address_of(p),
      p.local->data->registration(Connection::of(conn).cep->conduit), p.size,
      p.remote->base + p.remote_offset, p.remote->put_key, 0, &request->op);
  if (status != CWY_OK) return status;
  request->op.fn(&request->op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  return CWY_INPROGRESS;
}

}  // namespace

thread_local constinit LastStore t_last_store = {};

void wake(const Note& note) {
  World& w = *world();
  if (!w.may_send(note.rank, note.segment->epoch)) return;
  // Release: the notification before the word that tells of it.
  const uint32_t sleeper = note.segment->sleep_word->exchange(0, std::memory_order_acq_rel);
  if (sleeper == 0) return;
  // A signal ends the sleep of a thread of this process (Services::wake).
  if (note.rank == w.rank) {
    ::tgkill(::getpid(), static_cast<pid_t>(sleeper), SIGURG);
    return;
  }
  const auto word = static_cast<int32_t>(Message::wake);
  try_send_internal(w.peer(note.rank), Internal::interface, &word, 1, nullptr, 0, false);
}

gaspi_return_t start_write(World& w, Queue& queue, const Piece& p, Deadline& deadline) {
  if (store_at_once(p) || p.size == 0) return GASPI_SUCCESS;
  Request* const request =
      queue.begin(p.remote->rank, p.remote->epoch, kBoth, !stays_ahead(way_to(w, p), p));
  return post_request(w, queue, p.remote->rank, request, deadline,
                      [&] { return transfer_once<Direction::put>(w, queue, p, request); });
}

gaspi_return_t start_read(World& w, Queue& queue, const Piece& p, uint64_t local_note,
                          Deadline& deadline) {
  if (is_direct(p) || p.size == 0) {
    if (p.size != 0) {
      // The notification or barrier that told of the data was read with acquire, in a call before
      // this one; so for the processor the data comes after it, and here for the compiler.
      std::atomic_signal_fence(std::memory_order_acquire);
      copy_bytes(address_of(p), mapped(p), p.size);
    }
    if (local_note != 0) store_note(local_note, 1);
    return GASPI_SUCCESS;
  }
  Request* const request = queue.begin(p.remote->rank, p.remote->epoch, CWYC_DONE_REMOTE, false);
  request->local_note = local_note;
  return post_request(w, queue, p.remote->rank, request, deadline, [&] {
    request->local_note = local_note;
    return transfer_once<Direction::get>(w, queue, p, request);
  });
}

gaspi_return_t start_write_notify(World& w, Queue& queue, const Piece& p, const Note& note,
                                  Deadline& deadline) {
  if (store_at_once(p, note)) return GASPI_SUCCESS;
  cwyc_conn* conn = nullptr;
  const gaspi_return_t connected = wait_for(deadline, [&] {
    const cwy_status status = connection(w, note.rank, &Peer::am, &conn);
    return status == CWY_OK ? GASPI_SUCCESS : status == CWY_RETRY ? GASPI_TIMEOUT : GASPI_ERROR;
  });
  if (connected != GASPI_SUCCESS) return connected;
  const bool eager = p.size <= eager_limit(Connection::of(conn), p);
  const cwyc_class_attr& way = eager ? kNoWay : way_to(w, p);
  const bool ahead = stays_ahead(way, p);
  bool by_long = fits_long(way, p);
  Request* const request = queue.begin(note.rank, p.remote->epoch, kBoth, !ahead);
  if (eager) {
    return post_request(w, queue, note.rank, request, deadline,
                        [&] { return write_note_once(w, p, note, &request->op); });
  }
  std::optional<Queue::Deferred> follow;
  const gaspi_return_t posted = post_request(w, queue, note.rank, request, deadline, [&] {
    if (by_long) {
      const cwy_status status = long_note_once(w, p, note, request);
      if (status != CWY_ERR_UNSUPPORTED) return status;
      by_long = false;
    }
    if (!follow) follow = queue.prepare_after(request, note);
    return transfer_once<Direction::put>(w, queue, p, request);
  });
  if (follow) posted == GASPI_SUCCESS ? queue.follow(*follow) : queue.cancel(*follow);
  return posted;
}

gaspi_return_t start_read_list_notify(World& w, Queue& queue, uint32_t num, uint32_t rank,
                                      uint64_t local_note, Deadline& deadline,
                                      const std::function<Piece(uint32_t)>& piece) {
  // One request for the list: the elements' own requests count in it as in a step, and it ends with
  // the last of them.
  ReadList* const list = queue.begin_list(local_note);
  gaspi_return_t result = GASPI_SUCCESS;
  for (uint32_t i = 0; i < num && result == GASPI_SUCCESS; ++i) {
    const Piece p = piece(i);
    w.statistics.read(rank, p.size);
    if (is_direct(p) || p.size == 0) {
      result = start_read(w, queue, p, 0, deadline);
      continue;
    }
    Request* const request = queue.begin(rank, p.remote->epoch, CWYC_DONE_REMOTE, false);
    list->join(request);
    result = post_request(w, queue, rank, request, deadline,
                          [&] { return transfer_once<Direction::get>(w, queue, p, request); });
  }
  if (result != GASPI_SUCCESS) list->slot = 0;  // begun again by the next call
  list->leave();
  return result;
}

namespace {

// Looks at `num` slots, the first of which has the number `first`.
inline gaspi_return_t look_for_note(const uint64_t* slots, uint32_t num, uint32_t first,
                                    gaspi_notification_id_t* found) {
  for (uint32_t i = 0; i < num; ++i) {
    // Acquire: what the notification announces is visible.
    if (__atomic_load_n(slots + i, __ATOMIC_ACQUIRE) == 0) continue;
    annotate_receive();
    fetch_for_answer();
    *found = first + i;
    return GASPI_SUCCESS;
  }
  return GASPI_TIMEOUT;
}

// The word that has others wake this thread (SleepWord), for as long as a wait lasts.
class Announcement {
 public:
  explicit Announcement(SleepWord& word) : word_(word) {}
  // Another sleeper's id stays.
  ~Announcement() {
    if (own_ != 0) word_.compare_exchange_strong(own_, 0, std::memory_order_relaxed);
  }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;
  // Sequentially consistent, and a barrier everywhere, before the last look.
  void make() {
    own_ = static_cast<uint32_t>(::gettid());
    word_.store(own_, std::memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  SleepWord& word_;
  uint32_t own_ = 0;
};

// After a first look.
__attribute__((noinline)) gaspi_return_t keep_looking(gaspi_segment_id_t segment,
                                                      const uint64_t* slots, uint32_t num,
                                                      uint32_t first,
                                                      gaspi_notification_id_t* found,
                                                      gaspi_timeout_t timeout) {
  if (timeout == GASPI_TEST) {
    poll_for_client();
    return look_for_note(slots, num, first, found);
  }
  // Where neighbors store, this loop looks several times between two polls, since a poll costs as
  // much as some looks. The processor pauses between looks: otherwise it executes many of them
  // ahead, and throws them away when a neighbor's store takes the line
  // (tests/perf/results/gaspi.md). A line has eight slots.
  constexpr uint32_t kLooks = 8;
  const World& world = *causeway::gaspi::world();
  const bool often = world.neighbors_store.load(std::memory_order_relaxed);
  const uint32_t rounds = often ? std::max(1u, kLooks / (num / 8 + 1)) : 1;
  Deadline deadline("gaspi_notify_waitsome()", timeout);
  deadline.is_for("one of {} notifications from id {} on, segment {}", num, first, segment);
  SleepWord& sleep_word = *world.segment(segment).sleep_word;
  deadline.sleeps_by(sleep_word);
  Announcement announcement(sleep_word);
  const auto look = [&] {
    for (uint32_t i = 0; i < rounds; ++i) {
      if (i != 0) gasnett_spinloop_hint();
      if (look_for_note(slots, num, first, found) == GASPI_SUCCESS) return GASPI_SUCCESS;
    }
    // A lost rank may have been the one that was to notify, which nobody here can know.
    return tell_of_loss(world) ? GASPI_ERROR : GASPI_TIMEOUT;
  };
  return wait_for(deadline, look, [&] { announcement.make(); });
}

}  // namespace

gaspi_return_t wait_for_note(gaspi_segment_id_t segment, const uint64_t* slots, uint32_t num,
                             uint32_t first, gaspi_notification_id_t* found,
                             gaspi_timeout_t timeout) {
  const gaspi_return_t seen = look_for_note(slots, num, first, found);
  if (__builtin_expect(seen == GASPI_SUCCESS, 1)) return seen;
  return keep_looking(segment, slots, num, first, found, timeout);
}

gaspi_return_t start_notify(World& w, Queue& queue, const Note& note, Deadline& deadline) {
  if (store_at_once(queue, note)) return GASPI_SUCCESS;
  const gaspi_return_t connected = wait_for(deadline, [&] { return try_connect(w, note.rank); });
  if (connected != GASPI_SUCCESS) return connected;
  return queue.notify(note, deadline);
}

}  // namespace causeway::gaspi
