#include "api/gasnet1/blocks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "am/arguments.h"
#include "base/fatal.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/team.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

enum Kind : int32_t { kData, kEntered, kGo, kFinished, kLeave };

struct Run {
  Team* team;
  uint32_t sequence;
  BlockTransfer what;
  Op* op;
  enum Stage { entering, moving, leaving, done } stage;
  bool told = false;    // rank 0 knows that this member came to the stage
  uint32_t cursor = 0;  // next member to release, or block to send
  size_t sent = 0;      // bytes of that block
};

// Blocks and messages that have come for one transfer, possibly before this member starts it.
// Nothing comes for a transfer that is over here: every stage ends with what its senders send last.
struct Inbox {
  struct Piece {
    uint32_t from;
    size_t at;
    std::string bytes;
  };
  Run* run = nullptr;
  std::vector<Piece> early;
  uint64_t received = 0;      // bytes of blocks
  uint32_t came[2] = {0, 0};  // at rank 0: members that entered, that finished
  bool released[2] = {false, false};
};
using Key = std::pair<uint32_t, uint32_t>;  // team id, sequence

// Guards all of this. Held while messages are sent, which never runs a handler.
std::mutex g_blocks_mutex;
constexpr size_t kArgs = 6;  // of a message
std::map<Key, Inbox> g_inboxes;
std::vector<std::unique_ptr<Run>> g_runs;  // in order of start
std::map<uint32_t, uint32_t> g_sequences;  // by team id
uint64_t g_moves = 0;                      // messages of all transfers, in and out

Inbox& inbox_of(const Run& run) {
  return g_inboxes[{run.team->id(), run.sequence}];
}

cwy_status send(const Run& run, uint32_t to, Kind kind, size_t at, const void* data, size_t n) {
  const auto args =
      handler_args(run.team->id(), run.sequence, kind, uint64_t{at}, run.team->rank());
  const cwy_status status = try_send_internal(run.team->member(to), Internal::block, args, data, n);
  if (status == CWY_OK) ++g_moves;
  return status;
}

void store(Run& run, uint32_t from, size_t at, const void* bytes, size_t n) {
  char* base = run.what.destination + (run.what.by_sender ? from * run.what.bytes : 0);
  std::memcpy(base + at, bytes, n);
}

// All members come to the same point: they tell rank 0, which tells all. False: not yet.
bool meet(Run& run, unsigned which) {
  const Kind came = which == 0 ? kEntered : kFinished, release = which == 0 ? kGo : kLeave;
  Inbox& in = inbox_of(run);
  if (run.team->rank() != 0) {
    if (!run.told) run.told = send(run, 0, came, 0, nullptr, 0) == CWY_OK;
    return in.released[which];
  }
  if (in.came[which] + 1 < run.team->size()) return false;
  for (; run.cursor + 1 < run.team->size(); ++run.cursor)
    if (send(run, run.cursor + 1, release, 0, nullptr, 0) != CWY_OK) return false;
  return true;
}

// The member's own block; source and place may be the same or overlap.
void copy_own(const BlockTransfer& t) {
  if (t.own != nullptr && t.own != t.own_place) std::memmove(t.own_place, t.own, t.bytes);
}

// Sends what is left of the outgoing blocks. False: the network pushes back.
bool send_blocks(Run& run) {
  for (; run.cursor < run.what.outgoing.size(); ++run.cursor, run.sent = 0) {
    const BlockTransfer::Outgoing& out = run.what.outgoing[run.cursor];
    Peer& peer = run.team->member(out.to);
    if (connect_peer(peer) == CWY_RETRY) return false;
    const size_t most = Connection::of(peer.am.load(std::memory_order_acquire)).attr->am_medium_max;
    while (run.sent < run.what.bytes) {
      const size_t n = std::min(most, run.what.bytes - run.sent);
      const char* data = static_cast<const char*>(out.data) + run.sent;
      if (send(run, out.to, kData, run.sent, data, n) != CWY_OK) return false;
      run.sent += n;
    }
  }
  return true;
}

void enter(Run& run, Run::Stage stage) {
  run.stage = stage;
  run.told = false;
  run.cursor = 0;
  run.sent = 0;
}

// As far as messages in and out allow.
void advance(Run& run) {
  if (run.stage == Run::entering && (!run.what.enter_together || meet(run, 0))) {
    copy_own(run.what);
    enter(run, Run::moving);
  }
  if (run.stage == Run::moving && send_blocks(run) &&
      inbox_of(run).received == uint64_t{run.what.incoming} * run.what.bytes)
    enter(run, Run::leaving);
  if (run.stage == Run::leaving && (!run.what.leave_together || meet(run, 1)))
    run.stage = Run::done;
}

void finish(Run& run) {
  g_inboxes.erase({run.team->id(), run.sequence});
  run.op->conduit.fn(&run.op->conduit, CWYC_DONE_REMOTE, CWY_OK, nullptr);
}

// Takes a message in. Under g_blocks_mutex.
void accept(const int32_t* args, const void* payload, size_t length) {
  const Key key{static_cast<uint32_t>(args[0]), static_cast<uint32_t>(args[1])};
  const uint64_t at = join_halves(args[3], args[4]);
  const auto from = static_cast<uint32_t>(args[5]);
  Inbox& in = g_inboxes[key];
  ++g_moves;
  switch (args[2]) {
    case kData:
      in.received += length;
      if (in.run != nullptr)
        store(*in.run, from, at, payload, length);
      else
        in.early.push_back({from, at, std::string(static_cast<const char*>(payload), length)});
      return;
    case kEntered:
    case kFinished:
      ++in.came[args[2] == kFinished];
      return;
    case kGo:
    case kLeave:
      in.released[args[2] == kLeave] = true;
      return;
    default:
      return;
  }
}

// A handler runs inside a conduit's lock, which the holder of g_blocks_mutex may wait for while it
// sends: so a handler never waits for g_blocks_mutex. What came while it was held is taken in by
// its next holder. The late mutex is held for moments, and nothing else is taken under it.
struct Late {
  std::array<int32_t, kArgs> args;
  std::string payload;
};
std::mutex g_late_mutex;
std::vector<Late> g_late;

void accept_late() {
  std::vector<Late> late;
  {
    const std::lock_guard lock(g_late_mutex);
    late.swap(g_late);
  }
  for (const Late& m : late) accept(m.args.data(), m.payload.data(), m.payload.size());
}

// A pass over all transfers; returns how many ended.
uint32_t advance_all() {
  accept_late();
  uint32_t ended = 0;
  for (auto& run : g_runs) {
    advance(*run);
    if (run->stage != Run::done) continue;
    finish(*run);
    run.reset();
    ++ended;
  }
  std::erase(g_runs, nullptr);
  blocks_active.fetch_sub(ended, std::memory_order_relaxed);
  return ended;
}

}  // namespace

gex_Event_t start_blocks(Team& team, BlockTransfer transfer) {
  Op* op = thread_state().ops.take();
  op->arm_explicit(CWYC_DONE_REMOTE);
  const std::lock_guard lock(g_blocks_mutex);
  auto run = std::make_unique<Run>();
  *run = Run{&team, g_sequences[team.id()]++, std::move(transfer), op, Run::entering};
  Inbox& in = inbox_of(*run);
  in.run = run.get();
  for (const Inbox::Piece& piece : in.early)
    store(*run, piece.from, piece.at, piece.bytes.data(), piece.bytes.size());
  in.early.clear();
  g_runs.push_back(std::move(run));
  blocks_active.fetch_add(1, std::memory_order_relaxed);
  or_fatal("gasnet_coll_*()", [] { return advance_all(); });
  return reinterpret_cast<gex_Event_t>(op);
}

uint32_t push_blocks() {
  const std::unique_lock lock(g_blocks_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return 0;
  return or_fatal("gasnet_coll_*()", [] { return advance_all(); });
}

CollectiveWait blocks_with(uint32_t job_rank) {
  const std::unique_lock lock(g_blocks_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  for (const auto& run : g_runs)
    if (has_rank_of_job(*run->team, job_rank))
      return {"gasnet_coll_*()", CollectiveSort::blocks, run->team, run->sequence + 1ull, g_moves};
  return {};
}

std::optional<HowFar> blocks_how_far(uint32_t team_id, uint64_t seq) {
  const std::unique_lock lock(g_blocks_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  const auto found = g_sequences.find(team_id);
  return HowFar{found != g_sequences.end() && found->second >= seq, g_moves};
}

void on_block(Peer&, const int32_t* args, unsigned, void* payload, size_t length) {
  const std::unique_lock lock(g_blocks_mutex, std::try_to_lock);
  if (lock.owns_lock()) return accept(args, payload, length);
  Late late;
  std::copy_n(args, kArgs, late.args.begin());
  if (length != 0) late.payload.assign(static_cast<const char*>(payload), length);
  const std::lock_guard late_lock(g_late_mutex);
  g_late.push_back(std::move(late));
}

}  // namespace causeway
