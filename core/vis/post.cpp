// What a VisTransfer sends: pieces on their own, vector operations of the conduit, packed messages.
#include <algorithm>
#include <cstring>

#include "am/internal.h"
#include "am/limits.h"
#include "base/fatal.h"
#include "kinds/places.h"
#include "object/connect.h"
#include "object/local.h"
#include "rma/unanswered.h"
#include "thread/thread_buffer.h"
#include "vis/run_list.h"
#include "vis/vis_transfer.h"

namespace causeway {
namespace {

// Entries of one vector operation at most; the lists lie on the stack.
constexpr size_t kBatch = 128;
// A piece is not cut for the sake of fewer bytes than this at the end of a message.
constexpr size_t kLeastCut = 64;

}  // namespace

// The connection behind one of the peer's pointers, or NULL while it is being made.
cwyc_conn* VisTransfer::connected(std::atomic<cwyc_conn*>& which) {
  cwyc_conn* conn = which.load(std::memory_order_acquire);
  if (conn != &peer_.stub) return conn;
  const cwy_status status = or_fatal(call_, [&] { return connect_peer(peer_); });
  if (status == CWY_RETRY) return nullptr;
  if (is_error(status)) send_failed(peer_, status);
  return which.load(std::memory_order_acquire);
}

cwy_status VisTransfer::send_next(Slot& slot) {
  if (stage_ == Stage::large) return post_piece(slot);
  if (vectors_possible_) {
    cwyc_conn* const conn = connected(put_ ? peer_.put : peer_.get);
    if (conn == nullptr) return CWY_RETRY;
    const Connection& c = Connection::of(conn);
    if ((c.attr->caps & CWYC_CAP_VECTOR) && !c.rma_over_am.load(std::memory_order_relaxed)) {
      const cwy_status status = post_vector(conn, slot);
      vectors_possible_ = status != CWY_ERR_UNSUPPORTED;
      return status;
    }
    vectors_possible_ = false;
  }
  return post_message(slot);
}

cwy_status VisTransfer::post_piece(Slot& slot) {
  const size_t n = walk_.piece();
  if (put_) await_local(slot);
  const cwy_status status =
      rma_post_once(call_, put_ ? Operation::put : Operation::get, peer_, walk_.local.addr(),
                    reinterpret_cast<uint64_t>(walk_.remote.addr()), n, post_flags(), &slot.op);
  if (status == CWY_OK || status == CWY_INPROGRESS) walk_.advance(n);
  return status;
}

// The conduit's vector put or get of the next short pieces.
cwy_status VisTransfer::post_vector(cwyc_conn* conn, Slot& slot) {
  Connection& c = Connection::of(conn);
  const Walk before = walk_;
  const size_t entries = std::min<uint64_t>(kBatch, std::max<uint64_t>(c.attr->iov_max, 1));
  cwyc_iov local[kBatch];
  cwyc_riov remote[kBatch];
  size_t locals = 0, remotes = 0;
  const char *low = walk_.local.addr(), *high = low;
  while (!walk_.done()) {
    const size_t n = walk_.piece();
    if (!is_large(n)) {
      char* const at = walk_.local.addr();
      const auto raddr = reinterpret_cast<uint64_t>(walk_.remote.addr());
      const bool joins_local =
          locals != 0 &&
          static_cast<char*>(local[locals - 1].addr) + local[locals - 1].length == at;
      const bool joins_remote =
          remotes != 0 && remote[remotes - 1].addr + remote[remotes - 1].length == raddr;
      if ((!joins_local && locals == entries) || (!joins_remote && remotes == entries)) break;
      if (joins_local)
        local[locals - 1].length += n;
      else
        local[locals++] = {at, n};
      if (joins_remote)
        remote[remotes - 1].length += n;
      else
        remote[remotes++] = {raddr, n};
      low = std::min<const char*>(low, at);
      high = std::max<const char*>(high, at + n);
    }
    walk_.advance(n);
  }
  cwyc_mem* const lmem = local_registration(*peer_.ep, conn, low, static_cast<size_t>(high - low));
  const cwyc_vector vector{CWY_HEAD(cwyc_vector),
                           local,
                           locals,
                           lmem,
                           remote,
                           remotes,
                           c.rkey.load(std::memory_order_acquire)};
  if (put_) await_local(slot);
  const auto call = put_ ? conn->ops->putv : conn->ops->getv;
  const cwy_status status = call(conn, &vector, post_flags(), &slot.op);
  if (status != CWY_OK && status != CWY_INPROGRESS) walk_ = before;
  return status;
}

// Room that the rest of the transfer can use, at most: data of puts, and a list of runs.
size_t VisTransfer::useful_room(size_t most) const {
  const size_t list = (local_.runs + remote_.runs + 1) * RunWriter::kMostPerRun;
  if (list >= most) return most;
  const size_t want = list + RunWriter::kMostPerRun + (put_ ? total_ + notice_length_ : 0);
  return std::min(most, want);
}

// A message with the next short pieces of a put, or the request for those of a get. Where the
// conduit lends a buffer, it is packed in place, and back-pressure is known before any work.
cwy_status VisTransfer::post_message(Slot& slot) {
  static thread_local ThreadBuffer buffer;
  cwyc_conn* const conn = connected(peer_.am);
  if (conn == nullptr) return CWY_RETRY;
  const size_t room = useful_room(Connection::of(conn).attr->am_medium_max);
  const uint64_t word = internal_word(put_ ? Internal::vis_put : Internal::vis_get, false);
  // A further argument says that runs may lie in no segment.
  const unsigned nargs = (put_ ? 4u : 3u) + anywhere_;
  int32_t args[5] = {};
  if (Connection::of(conn).attr->caps & CWYC_CAP_AM_PREPARE) {
    constexpr size_t kLeast = 512;  // what every conduit can carry
    cwyc_am_slot lent{};
    lent.head = CWY_HEAD(cwyc_am_slot);
    const cwy_status status =
        conn->ops->am_prepare(conn, std::min(kLeast, room), room, nargs, post_flags(), &lent);
    if (status != CWY_OK) return status;
    const size_t length =
        pack(static_cast<char*>(lent.buffer), std::min<size_t>(lent.length, room), args, slot);
    note_question(peer_.rank);
    conn->ops->am_commit(conn, &lent, word, args, nargs, length);
    return CWY_INPROGRESS;
  }
  const Walk before = walk_;
  const Stage stage = stage_;
  const uint32_t notice = notice_;
  char* const bytes = buffer.of(room);
  const size_t length = pack(bytes, room, args, slot);
  const cwy_status status = conn->ops->am_medium(conn, word, args, nargs, bytes, nullptr, length,
                                                 post_flags() | CWYC_SRC_VOLATILE, nullptr);
  if (status == CWY_OK) {
    note_question(peer_.rank);
    return CWY_INPROGRESS;  // there is an answer to come
  }
  walk_ = before;
  stage_ = stage;
  notice_ = notice;
  return status;
}

// Writes the message into `buffer`; returns its length. Past this, the slot may be answered.
size_t VisTransfer::pack(char* buffer, size_t room, int32_t* args, Slot& slot) {
  const auto cookie = reinterpret_cast<uint64_t>(&slot.op);
  args[0] = low_half(cookie);
  args[1] = high_half(cookie);
  slot.at = walk_;
  const size_t length = put_ ? pack_put(buffer, room, args) : pack_get(buffer, room, slot);
  if (!put_) args[2] = static_cast<int32_t>(slot.bytes);
  hand_over(&slot.op);
  return length;
}

// Takes the next short pieces, as many as fit and the last one cut: calls take(bytes, bytes before
// it) for each. `room(bytes so far)` answers how many more there is room for. Returns all bytes.
template <typename Room, typename Take>
size_t VisTransfer::take_short(Room&& room, Take&& take) {
  size_t data = 0;
  while (!walk_.done()) {
    size_t n = walk_.piece();
    if (!is_large(n)) {
      const size_t fits = room(data);
      if (n > fits) {
        if (fits < kLeastCut && data != 0) break;
        n = fits;
      }
      take(n, data);
      data += n;
    }
    walk_.advance(n);
  }
  return data;
}

// Message: data, a notice's payload, list of runs. Arguments: cookie, bytes of data, the notice's
// bytes and handler.
size_t VisTransfer::pack_put(char* buffer, size_t room, int32_t* args) {
  // The notice goes along if this message turns out to be the only one.
  const bool first = notice_ != 0 && !begun_;
  if (first) room -= notice_length_;
  RunWriter runs(buffer + room);
  const auto left = [&](size_t data) {
    const size_t taken = data + runs.used() + RunWriter::kMostPerRun;
    return room > taken ? room - taken : 0;
  };
  const size_t data = take_short(left, [&](size_t n, size_t before) {
    copy_bytes(call_, buffer + before, walk_.local.addr(), n);
    runs.add(reinterpret_cast<uint64_t>(walk_.remote.addr()), static_cast<uint32_t>(n));
  });
  const size_t list = runs.finish();
  const char* const written = buffer + room - list;
  const bool noticed = first && !seek();
  const size_t extra = noticed ? notice_length_ : 0;
  args[2] = static_cast<int32_t>(data);
  args[3] = noticed ? static_cast<int32_t>((notice_length_ << 8) | notice_) : 0;
  // Moved before the notice is written: the notice may lie where the list was built.
  std::memmove(buffer + data + extra, written, list);
  std::memcpy(buffer + data, notice_payload_.data(), extra);
  if (noticed) notice_ = 0;
  return data + extra + list;
}

// Message: list of runs. Arguments: cookie, bytes wanted. The answer goes by the peer's choice of
// conduit and class, which may carry less than this side's: both know the least of the two.
size_t VisTransfer::pack_get(char* buffer, size_t room, Slot& slot) {
  const size_t most = limits_of(peer_).medium;
  RunWriter runs(buffer + room);
  const auto left = [&](size_t data) {
    const bool list_is_full = data != 0 && runs.used() + RunWriter::kMostPerRun > room;
    return list_is_full ? 0 : most - data;
  };
  slot.bytes = take_short(left, [&](size_t n, size_t) {
    runs.add(reinterpret_cast<uint64_t>(walk_.remote.addr()), static_cast<uint32_t>(n));
  });
  const size_t list = runs.finish();
  std::memmove(buffer, buffer + room - list, list);
  return list;
}

// The answer to a packed get: goes through the same pieces as pack_get did.
bool VisTransfer::scatter(const Slot& slot, const char* data, size_t length) const {
  if (length != slot.bytes) return false;
  Walk walk = slot.at;
  for (size_t at = 0; at < length;) {
    size_t n = walk.piece();
    if (!is_large(n)) {
      n = std::min(n, length - at);
      copy_bytes(call_, walk.local.addr(), data + at, n);
      at += n;
    }
    walk.advance(n);
  }
  return true;
}

}  // namespace causeway
