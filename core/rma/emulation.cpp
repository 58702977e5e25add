#include "rma/emulation.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "am/internal.h"
#include "am/limits.h"
#include "am/peer_memory.h"
#include "base/context.h"
#include "base/invariant.h"
#include "connection/post_flags.h"
#include "kinds/places.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "progress/retry_queue.h"
#include "rma/unanswered.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

enum class Direction : uint32_t { put, get };

// Lives in cwyc_op::scratch from posting to completion. `posted` belongs to the thread
// that holds the operation: the posting thread, then one that has taken it out of g_unsent. The
// threads that run the answers advance `moved`.
struct Transfer {
  char* local;
  uint64_t raddr;
  uint64_t total;
  uint64_t posted;
  uint64_t moved;  // through std::atomic_ref
  cwyc_conn* conn;
  Direction direction;
  bool anywhere;
};
static_assert(sizeof(Transfer) <= sizeof(cwyc_op::scratch));

Transfer& transfer_of(cwyc_op* op) {
  return *reinterpret_cast<Transfer*>(op->scratch);
}

// Operations with pieces left to send. Invariant: an operation is in this queue exactly while
// posted < total and no thread is posting it.
RetryQueue<cwyc_op> g_unsent;

void require_pieces_left(const Transfer& t) {
  ensure("an operation that waits to be sent has pieces left", [&] { return t.posted < t.total; });
}

// The last of eight arguments: the range need not lie in a segment.
constexpr int32_t kToAnywhere = 1;
bool to_anywhere(const int32_t* args, unsigned nargs) {
  return nargs == 8 && args[7] == kToAnywhere;
}

// Pieces are messages, whatever conduit the operation was to go through. The peer is connected,
// and its pointer for messages was set first. Pieces of a get come back by the peer's choice of
// conduit and class, which may carry less: both sides know the least of the two.
uint64_t largest_piece(cwyc_conn* conn, Direction direction) {
  const Peer& peer = *Connection::of(conn).peer;
  if (direction == Direction::get) return limits_of(peer).medium;
  cwyc_conn* am = peer.am.load(std::memory_order_acquire);
  return Connection::of(am).attr->am_medium_max;
}

// Sends the piece that starts at `at`.
cwy_status send_piece(cwyc_op* op, const Transfer& t, uint64_t at, uint64_t n) {
  Peer& peer = *Connection::of(t.conn).peer;
  const uint64_t raddr = t.raddr + at;
  const auto cookie = reinterpret_cast<uint64_t>(op);
  const bool put = t.direction == Direction::put;
  const char* const payload = put ? t.local + at : nullptr;
  const int32_t args[] = {low_half(raddr),         high_half(raddr), low_half(cookie),
                          high_half(cookie),       low_half(at),     high_half(at),
                          static_cast<int32_t>(n), kToAnywhere};
  const bool anywhere = t.anywhere;
  hand_over(op);  // everything of the operation that this thread needs has been read
  const cwy_status status =
      put ? try_send_internal(peer, Internal::put_data, args, anywhere ? 8 : 4, payload, n, false)
          : try_send_internal(peer, Internal::get_ask, args, anywhere ? 8 : 7, nullptr, 0, false);
  if (status == CWY_OK) note_question(peer.rank);
  return status;
}

// Sends pieces until all are out (CWY_OK), the connection pushes back (CWY_RETRY), or it fails.
// Once the last piece of a get is out, its answer may complete the operation at any moment and the
// operation is not touched again: so what the loop needs is copied, and `posted` is written before
// sending.
cwy_status post_pieces(cwyc_op* op, uint32_t at_most, uint32_t* sent) {
  Transfer& t = transfer_of(op);
  const uint64_t total = t.total, piece = largest_piece(t.conn, t.direction);
  uint64_t posted = t.posted;
  for (*sent = 0; posted < total && *sent < at_most; ++*sent) {
    const uint64_t n = std::min(total - posted, piece);
    t.posted = posted + n;
    const cwy_status status = send_piece(op, t, posted, n);
    if (status != CWY_OK) {
      t.posted = posted;
      return status;
    }
    posted += n;
  }
  return posted == total ? CWY_OK : CWY_RETRY;
}

// All pieces are out: a put's source may be reused. The answers may already have completed the
// remote side; the operation lives on until this report too.
void all_posted(cwyc_op* op, Direction direction) {
  if (direction == Direction::put) op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
}

// The peer has failed with pieces not sent, so neither report has been made. Answers to what was
// sent may still be on their way: whoever owns the operation keeps its memory.
void failed(cwyc_op* op, Direction direction, cwy_status status) {
  op->fn(op, direction == Direction::put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE,
         status, nullptr);
}

cwy_status start(cwyc_conn* conn, Direction direction, void* local, uint64_t raddr, size_t length,
                 uint32_t flags, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  Transfer& t = transfer_of(op);
  t = Transfer{static_cast<char*>(local), raddr, length, 0, 0, conn, direction,
               (flags & kAnywhere) != 0};
  uint32_t sent = 0;
  const cwy_status status = post_pieces(op, 1, &sent);
  if (status == CWY_OK) {
    all_posted(op, direction);
    return CWY_INPROGRESS;
  }
  if (sent == 0) return status;
  require_pieces_left(t);
  g_unsent.add(op);
  return CWY_INPROGRESS;
}

// Another part of the transfer has arrived at its destination.
void moved(cwyc_op* op, uint64_t bytes) {
  Transfer& t = transfer_of(op);
  const uint64_t total = t.total;
  // acq_rel: the last of several threads that count sees what the others' parts wrote.
  const uint64_t before =
      std::atomic_ref<uint64_t>(t.moved).fetch_add(bytes, std::memory_order_acq_rel);
  ensure("no more of a transfer arrives than it has", [&] { return before + bytes <= total; });
  if (before + bytes == total) op->fn(op, CWYC_DONE_REMOTE, CWY_OK, nullptr);
}

}  // namespace

cwy_status emulated_put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                        size_t length, uint32_t flags, cwyc_op* op) {
  return start(conn, Direction::put, const_cast<void*>(src), raddr, length, flags, op);
}

cwy_status emulated_get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                        size_t length, uint32_t flags, cwyc_op* op) {
  return start(conn, Direction::get, dst, raddr, length, flags, op);
}

uint32_t push_emulations() {
  uint32_t sent = 0;
  g_unsent.try_each([&](cwyc_op& op) {
    require_pieces_left(transfer_of(&op));
    const Direction direction = transfer_of(&op).direction;
    uint32_t now = 0;
    const cwy_status status = post_pieces(&op, UINT32_MAX, &now);
    sent += now;
    if (status == CWY_RETRY) return false;
    if (status == CWY_OK)
      all_posted(&op, direction);
    else
      failed(&op, direction, status);
    return true;
  });
  return sent;
}

void* place_payload(void* core_ep, const cwyc_arrival* arrival) {
  const cwy_peer from = arrival->from;
  const uint64_t word = arrival->word, length = arrival->length;
  const int32_t* const args = arrival->args;
  if (!(word & kWordInternal) || arrival->nargs < 4 || length <= sizeof(uint64_t)) return nullptr;
  // An earlier process of the rank means addresses of an earlier time. Relaxed: as deliver() does.
  // A conduit that is asked here may hold its lock: no peer comes into being.
  const Peer* const peer = static_cast<ConduitEp*>(core_ep)->owner->met(0, from.rank);
  if (peer == nullptr || peer->epoch.load(std::memory_order_relaxed) != from.epoch) return nullptr;
  uint64_t to = join_halves(args[0], args[1]);
  switch (static_cast<Internal>(word_handler(word))) {
    case Internal::put_data:
    case Internal::long_piece:
      if (!in_any_segment(to, length)) return nullptr;  // for the handler to judge
      break;
    case Internal::get_data: {
      const Transfer& t = transfer_of(take_over(to));
      const uint64_t at = join_halves(args[2], args[3]);
      if (at > t.total || length > t.total - at) return nullptr;
      to = reinterpret_cast<uint64_t>(t.local + at);
      break;
    }
    default:
      return nullptr;
  }
  return device_at("communication", to, length) == nullptr ? reinterpret_cast<void*>(to) : nullptr;
}

void on_put_data(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length) {
  store_for_peer(from, join_halves(args[0], args[1]), payload, length, to_anywhere(args, nargs),
                 "gex_RMA_Put*()");
  const int32_t answer[] = {args[2], args[3], static_cast<int32_t>(length)};
  reply_internal(from, Internal::put_done, answer, 3, nullptr, 0);
}

void on_put_done(Peer& from, const int32_t* args, unsigned, void*, size_t) {
  note_answer(from.rank);
  moved(take_over(join_halves(args[0], args[1])), static_cast<uint32_t>(args[2]));
}

void on_get_ask(Peer& from, const int32_t* args, unsigned nargs, void*, size_t) {
  constexpr const char* kCall = "gex_RMA_Get*()";
  const uint64_t addr = join_halves(args[0], args[1]);
  const auto length = static_cast<uint32_t>(args[6]);
  const int32_t answer[] = {args[2], args[3], args[4], args[5]};
  const bool anywhere = to_anywhere(args, nargs);
  // ThreadSanitizer is to see the load end before the answer leaves.
  if (kThreadSanitizer || is_doubtful(addr, length, anywhere) ||
      device_at(kCall, addr, length) != nullptr) {
    std::vector<char> copy(length);
    load_for_peer(from, addr, copy.data(), length, anywhere, kCall);
    reply_internal(from, Internal::get_data, answer, 4, copy.data(), length);
    return;
  }
  require_in_segment(from, addr, length, kCall);
  reply_internal(from, Internal::get_data, answer, 4, reinterpret_cast<void*>(addr), length);
}

void on_get_data(Peer& from, const int32_t* args, unsigned, void* payload, size_t length) {
  note_answer(from.rank);
  cwyc_op* op = take_over(join_halves(args[0], args[1]));
  copy_bytes("gex_RMA_Get*()", transfer_of(op).local + join_halves(args[2], args[3]), payload,
             length);
  moved(op, length);
}

}  // namespace causeway
