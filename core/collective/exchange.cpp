#include "collective/exchange.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "am/arguments.h"
#include "base/error.h"
#include "collective/arena.h"
#include "collective/frames.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/team.h"
#include "progress/waiter.h"

namespace causeway {
namespace {

enum Phase : uint32_t { kUp = 0, kDown = 1, kRead = 2 };

// The first letter of a gathered text: it can be read in the arena of the team's rank 0 by each of
// its members, or travels in messages.
constexpr char kByArena = 'a', kByMessages = 'm';
// Teams of fewer members do not map that arena for an exchange.
constexpr uint32_t kManyMembers = 64;

// A text under assembly from pieces in any order.
struct Incoming {
  std::string bytes;
  uint64_t received = 0;
  bool started = false;
  bool complete() const { return started && received == bytes.size(); }
};
// Team, receiver's rank in it (a process may have several members), sequence number of the
// exchange on it, phase, sender's rank.
using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

std::mutex g_exchange_mutex;  // pieces arrive in handlers on any thread
std::map<Key, Incoming> g_incoming;

void append_u64(std::string& out, uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
uint64_t read_u64(const std::string& in, size_t& at) {
  uint64_t value = 0;
  if (in.size() - at < sizeof value) throw Error(CWY_ERR_INVALID, "an exchange is cut short");
  std::memcpy(&value, in.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

// The rank of the job that an exchange waits for. Relaxed: looked at now and then.
constexpr uint32_t kNobody = UINT32_MAX;
std::atomic<uint32_t> g_awaited{kNobody};

void send_text(Team& team, uint32_t to, uint32_t sequence, Phase phase, const std::string& text) {
  Peer& peer = team.member(to);
  for (WaiterFor waiter(wait_for("connecting", peer)); connect_peer(peer) == CWY_RETRY;)
    waiter.step();
  const size_t piece = Connection::of(peer.am.load(std::memory_order_acquire)).attr->am_medium_max;
  size_t at = 0;
  do {
    const size_t n = std::min(piece, text.size() - at);
    const auto args = handler_args(team.id(), sequence, phase, uint64_t{at}, uint64_t{text.size()},
                                   to, team.rank());
    send_internal(peer, Internal::exchange, args, text.data() + at, n);
    at += n;
  } while (at < text.size());
}

std::string receive_text(Team& team, uint32_t from, uint32_t sequence, Phase phase,
                         const char* call) {
  const Key key{team.id(), team.rank(), sequence, phase, from};
  WaiterFor waiter(wait_for(call, team.member(from)));
  g_awaited.store(team.job_rank(from), std::memory_order_relaxed);
  for (;;) {
    {
      const std::lock_guard lock(g_exchange_mutex);
      const auto found = g_incoming.find(key);
      if (found != g_incoming.end() && found->second.complete()) {
        g_awaited.store(kNobody, std::memory_order_relaxed);
        std::string text = std::move(found->second.bytes);
        g_incoming.erase(found);
        return text;
      }
    }
    waiter.step();
  }
}

std::vector<std::string> unpack_all(const std::string& all, uint32_t size) {
  std::vector<std::string> out(size);
  for (size_t at = 1; at < all.size();) {
    const uint64_t rank = read_u64(all, at);
    const uint64_t length = read_u64(all, at);
    if (rank >= size || length > all.size() - at)
      throw Error(CWY_ERR_INVALID, "an exchange is garbled");
    out[rank] = all.substr(at, length);
    at += length;
  }
  return out;
}

// The whole text in rank 0's arena: in messages it would go down the tree to each member, so many
// times as there are members, in pieces of a few KiB that each wait for their receiver.
struct InArena {
  uint64_t offset = kNoOffset, length = 0;

  static bool possible(Team& team) {
    Peer& root = team.member(0);
    return team.size() >= kManyMembers && shares_arena(root.rank) && mapped_arena(root) != nullptr;
  }
  // All else there is aligned.
  static size_t rounded(size_t length) { return (length + kLine - 1) / kLine * kLine; }
  // On rank 0. kNoOffset: it does not fit.
  static InArena put(const std::string& text) {
    const InArena out{arena_allocate(rounded(text.size())), text.size()};
    if (out.offset != kNoOffset) std::memcpy(own_arena() + out.offset, text.data(), text.size());
    return out;
  }
  std::string word() const {
    std::string out(1, kByArena);
    append_u64(out, offset);
    append_u64(out, length);
    return out;
  }
  // The text that rank 0 put there, by its word().
  static std::string get(Team& team, const std::string& word) {
    size_t at = 1;
    const uint64_t offset = read_u64(word, at), length = read_u64(word, at);
    if (offset > arena_bytes() || length > arena_bytes() - offset)
      throw Error(CWY_ERR_INVALID, "an exchange is garbled");
    return {mapped_arena(team.member(0)) + offset, length};
  }
};

// Children of a rank in the binomial tree: rank + 2^k for the 2^k below its lowest set bit.
std::vector<uint32_t> children_of(uint32_t rank, uint32_t ranks) {
  std::vector<uint32_t> out;
  for (uint32_t bit = 1; bit < ranks && (rank & bit) == 0; bit <<= 1)
    if (rank + bit < ranks) out.push_back(rank + bit);
  return out;
}

}  // namespace

std::vector<std::string> exchange(Team& team, const std::string& own, const char* call) {
  const uint32_t sequence = team.next_exchange();
  const uint32_t me = team.rank(), n = team.size(), parent = me & (me - 1);
  std::string gathered(1, InArena::possible(team) ? kByArena : kByMessages);
  append_u64(gathered, me);
  append_u64(gathered, own.size());
  gathered += own;
  const std::vector<uint32_t> children = children_of(me, n);
  for (const uint32_t child : children) {
    const std::string text = receive_text(team, child, sequence, kUp, call);
    if (text.empty() || text[0] != kByArena) gathered[0] = kByMessages;
    gathered.append(text, std::min<size_t>(1, text.size()));
  }
  InArena kept;
  std::string down;
  if (me != 0) {
    send_text(team, parent, sequence, kUp, gathered);
    gathered = down = receive_text(team, parent, sequence, kDown, call);
  } else {
    if (gathered[0] == kByArena) kept = InArena::put(gathered);
    if (kept.offset == kNoOffset) gathered[0] = kByMessages;
    down = kept.offset == kNoOffset ? gathered : kept.word();
  }
  for (const uint32_t child : children) send_text(team, child, sequence, kDown, down);
  if (down[0] == kByArena) {
    if (me != 0) gathered = InArena::get(team, down);
    for (const uint32_t child : children) receive_text(team, child, sequence, kRead, call);
    if (me != 0) send_text(team, parent, sequence, kRead, "");
    if (me == 0) arena_release(kept.offset, InArena::rounded(kept.length));
  }
  return unpack_all(gathered, n);
}

void on_exchange_piece(Peer&, const int32_t* args, unsigned, void* payload, size_t length) {
  const Key key{static_cast<uint32_t>(args[0]), static_cast<uint32_t>(args[7]),
                static_cast<uint32_t>(args[1]), static_cast<uint32_t>(args[2]),
                static_cast<uint32_t>(args[8])};
  const uint64_t at = join_halves(args[3], args[4]), total = join_halves(args[5], args[6]);
  if (at > total || length > total - at) return;
  const std::lock_guard lock(g_exchange_mutex);
  Incoming& in = g_incoming[key];
  if (!in.started) {
    in.bytes.resize(total);
    in.started = true;
  }
  std::memcpy(in.bytes.data() + at, payload, length);
  in.received += length;
}

bool exchange_waits_for(uint32_t job_rank) {
  return g_awaited.load(std::memory_order_relaxed) == job_rank;
}

}  // namespace causeway
