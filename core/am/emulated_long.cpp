#include "am/emulated_long.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "am/deliver.h"
#include "am/internal.h"
#include "am/peer_memory.h"
#include "am/send.h"
#include "base/invariant.h"
#include "connection/post_flags.h"
#include "connection/word.h"
#include "progress/retry_queue.h"

namespace causeway {
namespace {

// Leads the medium that carries the message itself; inline payload follows.
struct LongHeader {
  uint64_t addr;
  uint64_t length;
  uint32_t id;
  uint32_t pieces;  // sent ahead
};
constexpr const char* kCall = "gex_AM_*Long()";
// The last argument of a piece.
constexpr int32_t kPieceOfReply = 1, kPieceAnywhere = 2;
constexpr size_t kInlineBytes = 512 - sizeof(LongHeader);

// A message that arrived before its last piece, or pieces that arrived before their message.
struct Assembly {
  uint32_t arrived = 0;
  uint32_t expected = 0;
  bool have_message = false;
  uint64_t word = 0, addr = 0, length = 0;
  std::vector<int32_t> args;
};
using Key = std::tuple<const Peer*, uint32_t, bool>;  // sender and receiver, id, is it a reply
std::mutex g_emulated_long_mutex;                     // handlers may run on several threads
std::map<Key, Assembly> g_assemblies;

cwy_status send_message(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                        const LongHeader& header, const void* inlined, size_t inlined_length,
                        uint32_t flags) {
  alignas(16) char buffer[512];
  std::memcpy(buffer, &header, sizeof header);
  if (inlined_length != 0) std::memcpy(buffer + sizeof header, inlined, inlined_length);
  return conn->ops->am_medium(conn, word | kWordEmulatedLong, args, nargs, buffer, nullptr,
                              sizeof header + inlined_length, flags | CWYC_SRC_VOLATILE, nullptr);
}

// A long of which a part may have gone out.
struct LongSend {
  cwyc_conn* conn;
  uint64_t word;
  int32_t args[CWYC_AM_MAX_ARGS];
  uint32_t nargs;
  uint32_t lane;  // CWYC_LANE_REPLY or 0
  const char* payload;
  size_t length;
  uint64_t raddr;
  size_t piece_bytes;
  uint32_t id;
  uint32_t pieces = 0;           // that have gone out
  cwyc_op* op = nullptr;         // to report to when the payload is no longer needed
  std::unique_ptr<char[]> copy;  // of the payload, where the source may be gone

  // Sends what there is room for. CWY_OK: all of it, the message included.
  cwy_status advance() {
    Peer& peer = *Connection::of(conn).peer;
    for (size_t at = pieces * piece_bytes; at < length; at += piece_bytes, ++pieces) {
      const uint64_t to = raddr + at;
      const int32_t piece_args[] = {
          low_half(to), high_half(to), static_cast<int32_t>(id),
          (lane != 0 ? kPieceOfReply : 0) | (word & kWordAnywhere ? kPieceAnywhere : 0)};
      const size_t n = std::min(piece_bytes, length - at);
      const cwy_status status =
          try_send_internal(peer, Internal::long_piece, piece_args, 4, payload + at, n, lane != 0);
      if (status != CWY_OK) return status;
    }
    const cwy_status status =
        send_message(conn, word, args, nargs, {raddr, length, id, pieces}, nullptr, 0, lane);
    if (is_error(status) && status != CWY_RETRY) send_failed(peer, status);
    return status;
  }
};

// Longs that met back-pressure after their first piece.
RetryQueue<LongSend> g_unsent;

void finish_later(LongSend&& begun) {
  g_unsent.add(new LongSend(std::move(begun)));
}

// The first piece is out and the next one finds no room. The call may not be undone.
cwy_status continue_long(LongSend&& begun, uint32_t flags, cwyc_op* op) {
  if (op != nullptr && !(flags & CWYC_SRC_VOLATILE)) {
    begun.op = op;
    finish_later(std::move(begun));
    return CWY_INPROGRESS;
  }
  if (flags & kImmediate) {
    begun.copy = std::make_unique_for_overwrite<char[]>(begun.length);
    std::memcpy(begun.copy.get(), begun.payload, begun.length);
    begun.payload = begun.copy.get();
    finish_later(std::move(begun));
    return CWY_OK;
  }
  SendingWait wait(*Connection::of(begun.conn).peer->ep);
  do {
    wait.step();
  } while (begun.advance() == CWY_RETRY);
  return CWY_OK;
}

}  // namespace

cwy_status emulated_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey*,
                         uint32_t flags, cwyc_op* op) {
  if (flags & kAnywhere) word |= kWordAnywhere;
  if (length <= kInlineBytes)
    return send_message(conn, word, args, nargs, {raddr, length, 0, 0}, payload, length, flags);
  Connection& c = Connection::of(conn);
  LongSend send{.conn = conn,
                .word = word,
                .args = {},
                .nargs = nargs,
                .lane = flags & CWYC_LANE_REPLY,
                .payload = static_cast<const char*>(payload),
                .length = length,
                .raddr = raddr,
                .piece_bytes = c.attr->am_medium_max,
                .id = c.long_id.fetch_add(1, std::memory_order_relaxed),
                .copy = nullptr};
  std::copy_n(args, nargs, send.args);
  const cwy_status status = send.advance();
  // Nothing has gone out yet: back-pressure is passed on.
  if (status != CWY_RETRY || send.pieces == 0) return status;
  return continue_long(std::move(send), flags, op);
}

uint32_t push_emulated_longs() {
  uint32_t sent = 0;
  g_unsent.try_each([&](LongSend& send) {
    const uint32_t before = send.pieces;
    const cwy_status status = send.advance();
    sent += send.pieces - before;
    if (status == CWY_RETRY) return false;
    ++sent;
    if (send.op != nullptr) send.op->fn(send.op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
    delete &send;
    return true;
  });
  return sent;
}

void on_long_piece(Peer& from, const int32_t* args, unsigned, void* payload, size_t length) {
  const uint64_t addr = join_halves(args[0], args[1]);
  store_for_peer(from, addr, payload, length, (args[3] & kPieceAnywhere) != 0, kCall);
  const Key key{&from, static_cast<uint32_t>(args[2]), (args[3] & kPieceOfReply) != 0};
  Assembly whole;
  {
    const std::lock_guard lock(g_emulated_long_mutex);
    Assembly& a = g_assemblies[key];
    ++a.arrived;
    ensure("no more pieces of a long message arrive than it has",
           [&] { return !a.have_message || a.arrived <= a.expected; });
    if (!a.have_message || a.arrived != a.expected) return;
    whole = std::move(a);
    g_assemblies.erase(key);
  }
  run_message(from, whole.word, CWYC_AM_LONG, whole.args.data(),
              static_cast<unsigned>(whole.args.size()), reinterpret_cast<void*>(whole.addr),
              whole.length);
}

void deliver_emulated_long(Peer& from, uint64_t word, const int32_t* args, unsigned nargs,
                           void* payload, size_t length) {
  LongHeader header{};
  if (length < sizeof header) return;  // not ours: the sender's library is another version
  std::memcpy(&header, payload, sizeof header);
  const bool anywhere = (word & kWordAnywhere) != 0;
  word &= ~(kWordEmulatedLong | kWordAnywhere);
  auto* dest = reinterpret_cast<void*>(header.addr);
  if (header.pieces == 0) {
    if (header.length != 0) {
      if (header.length > length - sizeof header) return;  // as above
      store_for_peer(from, header.addr, static_cast<char*>(payload) + sizeof header, header.length,
                     anywhere, kCall);
    }
    run_message(from, word, CWYC_AM_LONG, args, nargs, dest, header.length);
    return;
  }
  const Key key{&from, header.id, (word & kWordReply) != 0};
  {
    const std::lock_guard lock(g_emulated_long_mutex);
    Assembly& a = g_assemblies[key];
    ensure("a long message arrives once, with no fewer pieces than came ahead of it",
           [&] { return !a.have_message && a.arrived <= header.pieces; });
    if (a.arrived != header.pieces) {
      a.have_message = true;
      a.expected = header.pieces;
      a.word = word;
      a.addr = header.addr;
      a.length = header.length;
      a.args.assign(args, args + nargs);
      return;
    }
    g_assemblies.erase(key);
  }
  run_message(from, word, CWYC_AM_LONG, args, nargs, dest, header.length);
}

}  // namespace causeway
