#include "am/emulated_long.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "am/deliver.h"
#include "am/internal.h"
#include "am/word.h"
#include "object/endpoint.h"
#include "progress/poll.h"
#include "progress/thread_state.h"
#include "progress/waiter.h"
#include "rma/emulation.h"

namespace causeway {
namespace {

// Leads the medium that carries the message itself; inline payload follows.
struct LongHeader {
  uint64_t addr;
  uint64_t length;
  uint32_t id;
  uint32_t pieces;  // sent ahead
};
constexpr size_t kInlineBytes = 512 - sizeof(LongHeader);

// A message that arrived before its last piece, or pieces that arrived before their message.
struct Assembly {
  uint32_t arrived = 0;
  uint32_t expected = 0;
  bool have_message = false;
  uint64_t word = 0, addr = 0, length = 0;
  std::vector<int32_t> args;
};
using Key = std::array<uint32_t, 3>;  // sender, id, lane
std::mutex g_mutex;                   // handlers may run on several threads
std::map<Key, Assembly> g_assemblies;

void run(Peer& from, const Assembly& a) {
  run_client_long(from, a.word, a.args.data(), static_cast<unsigned>(a.args.size()),
                  reinterpret_cast<void*>(a.addr), a.length);
}

// From client context any progress may make room; from a handler only replies may be delivered.
void make_room(Peer& peer, bool in_handler, Waiter& waiter) {
  if (in_handler) {
    poll_replies(*peer.ep);
  } else {
    waiter.step();
  }
}

cwy_status send_message(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                        const LongHeader& header, const void* inlined, size_t inlined_length,
                        uint32_t flags) {
  alignas(16) char buffer[512];
  std::memcpy(buffer, &header, sizeof header);
  if (inlined_length != 0) std::memcpy(buffer + sizeof header, inlined, inlined_length);
  return conn->ops->am_medium(conn, word | kWordEmulatedLong, args, nargs, buffer, nullptr,
                              sizeof header + inlined_length, flags | CWYC_SRC_VOLATILE, nullptr);
}

}  // namespace

cwy_status emulated_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey*,
                         uint32_t flags, cwyc_op*) {
  Connection& c = Connection::of(conn);
  if (length <= kInlineBytes) {
    return send_message(conn, word, args, nargs, {raddr, length, 0, 0}, payload, length, flags);
  }
  const bool reply = (flags & CWYC_LANE_REPLY) != 0;
  const bool in_handler = thread_state().context != Context::client;
  const uint32_t id = c.long_id.fetch_add(1, std::memory_order_relaxed);
  const size_t piece = c.cep->attr.am_medium_max;
  const auto* bytes = static_cast<const char*>(payload);
  uint32_t pieces = 0;
  Waiter waiter;
  for (size_t at = 0; at < length; at += piece, ++pieces) {
    const uint64_t to = raddr + at;
    const int32_t piece_args[] = {low_half(to), high_half(to), static_cast<int32_t>(id),
                                  reply ? 1 : 0};
    const size_t n = std::min(piece, length - at);
    while (try_send_internal(*c.peer, Internal::long_piece, piece_args, 4, bytes + at, n, reply) ==
           CWY_RETRY) {
      // Back-pressure can still be passed on while nothing has gone out.
      if (pieces == 0 && (flags & CWYC_IMMEDIATE)) return CWY_RETRY;
      make_room(*c.peer, in_handler, waiter);
    }
  }
  while (send_message(conn, word, args, nargs, {raddr, length, id, pieces}, nullptr, 0, flags) ==
         CWY_RETRY) {
    make_room(*c.peer, in_handler, waiter);
  }
  return CWY_OK;
}

void on_long_piece(Peer& from, const int32_t* args, unsigned, void* payload, size_t length) {
  const uint64_t addr = join_halves(args[0], args[1]);
  require_in_segment(from, addr, length, "gex_AM_*Long()");
  std::memcpy(reinterpret_cast<void*>(addr), payload, length);
  const Key key{from.rank, static_cast<uint32_t>(args[2]), static_cast<uint32_t>(args[3])};
  Assembly whole;
  {
    const std::lock_guard lock(g_mutex);
    Assembly& a = g_assemblies[key];
    ++a.arrived;
    if (!a.have_message || a.arrived != a.expected) return;
    whole = std::move(a);
    g_assemblies.erase(key);
  }
  run(from, whole);
}

void deliver_emulated_long(Peer& from, uint64_t word, const int32_t* args, unsigned nargs,
                           void* payload, size_t length) {
  LongHeader header{};
  if (length < sizeof header) return;  // not ours: the sender's library is another version
  std::memcpy(&header, payload, sizeof header);
  word &= ~kWordEmulatedLong;
  auto* dest = reinterpret_cast<void*>(header.addr);
  if (header.pieces == 0) {
    if (header.length != 0) {
      require_in_segment(from, header.addr, header.length, "gex_AM_*Long()");
      std::memcpy(dest, static_cast<char*>(payload) + sizeof header, length - sizeof header);
    }
    run_client_long(from, word, args, nargs, dest, header.length);
    return;
  }
  const Key key{from.rank, header.id, (word & kWordReply) ? 1u : 0u};
  {
    const std::lock_guard lock(g_mutex);
    Assembly& a = g_assemblies[key];
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
  run_client_long(from, word, args, nargs, dest, header.length);
}

}  // namespace causeway
