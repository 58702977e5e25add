#include "api/gasnet1/named_barrier.h"

#include <array>
#include <mutex>
#include <utility>

#include "am/arguments.h"
#include "base/invariant.h"
#include "object/team.h"

namespace causeway {
namespace {

constexpr unsigned kMaxSteps = 32;  // 2^32 members

// Dissemination: in step k a member tells the one 2^k ahead what it knows of the names so far, and
// learns the same from the one 2^k behind. Merging is idempotent, so a name that comes twice does
// no harm. A member can be one phase ahead of another, never two, so two sets of slots suffice.
using Slots = std::array<std::optional<BarrierName>, kMaxSteps>;

struct Phase {
  Team* team = nullptr;
  uint32_t parity = 0;  // of the phase under way
  unsigned step = 0;
  bool sent = false;  // this step's message is out
  BarrierName word{};
};

// Guards the phase. Held while a message is sent, for which a conduit's lock may be waited for; so
// never taken by a handler, which runs inside such a lock.
std::mutex g_named_barrier_mutex;
Phase g_phase;
uint64_t g_begun = 0, g_steps = 0;  // phases, and steps of all of them

// The messages that have come, by parity. Guarded by a mutex of its own that nobody holds while
// taking another.
std::mutex g_arrived_mutex;
std::array<Slots, 2> g_arrived;

std::optional<BarrierName> take_arrived(uint32_t parity, unsigned step) {
  const std::lock_guard lock(g_arrived_mutex);
  return std::exchange(g_arrived[parity][step], std::nullopt);
}

BarrierName merge(BarrierName a, BarrierName b) {
  if (a.kind == BarrierName::none) return b;
  if (b.kind == BarrierName::none) return a;
  if (a.kind == BarrierName::named && b.kind == BarrierName::named && a.id == b.id) return a;
  return {BarrierName::mismatch, 0};
}

bool last_step_done(const Phase& p) {
  return (uint64_t{1} << p.step) >= p.team->size();
}

bool send_step(const Phase& p) {
  const uint64_t n = p.team->size();
  Peer& to = p.team->member(static_cast<uint32_t>((p.team->rank() + (uint64_t{1} << p.step)) % n));
  const auto args = handler_args(p.parity, p.step, p.word.kind, p.word.id);
  return try_send_internal(to, Internal::named_barrier, args) == CWY_OK;
}

// Goes as far as messages in and out allow. Returns how many steps were made.
uint32_t advance(Phase& p) {
  uint32_t steps = 0;
  while (!last_step_done(p)) {
    if (!p.sent) p.sent = send_step(p);
    if (!p.sent) return steps;
    const std::optional<BarrierName> in = take_arrived(p.parity, p.step);
    if (!in) return steps;
    p.word = merge(p.word, *in);
    p.sent = false;
    ++p.step;
    ++g_steps;
    ++steps;
  }
  named_barrier_active.fetch_sub(1, std::memory_order_relaxed);
  return steps;
}

}  // namespace

void begin_named_barrier(Team& team, BarrierName own) {
  const std::lock_guard lock(g_named_barrier_mutex);
  ensure("one named barrier of a process is under way at a time",
         [] { return named_barrier_active.load(std::memory_order_relaxed) == 0; });
  g_phase.team = &team;
  g_phase.step = 0;
  g_phase.sent = false;
  g_phase.word = own;
  ++g_begun;
  named_barrier_active.fetch_add(1, std::memory_order_relaxed);
  advance(g_phase);
}

bool named_barrier_done() {
  const std::lock_guard lock(g_named_barrier_mutex);
  return last_step_done(g_phase);
}

BarrierName finish_named_barrier() {
  const std::lock_guard lock(g_named_barrier_mutex);
  g_phase.parity ^= 1;
  return g_phase.word;
}

uint32_t push_named_barrier() {
  const std::unique_lock lock(g_named_barrier_mutex, std::try_to_lock);
  if (!lock.owns_lock() || named_barrier_active.load(std::memory_order_relaxed) == 0) return 0;
  return advance(g_phase);
}

CollectiveWait named_barrier_with(uint32_t job_rank) {
  const std::unique_lock lock(g_named_barrier_mutex, std::try_to_lock);
  if (!lock.owns_lock() || named_barrier_active.load(std::memory_order_relaxed) == 0 ||
      !has_rank_of_job(*g_phase.team, job_rank))
    return {};
  return {"gasnet_barrier_wait()", CollectiveSort::named_barrier, g_phase.team, g_begun, g_steps};
}

std::optional<HowFar> named_barrier_how_far(uint64_t seq) {
  const std::unique_lock lock(g_named_barrier_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return HowFar{g_begun >= seq, g_steps};
}

void on_named_barrier(Peer&, const int32_t* args, unsigned, void*, size_t) {
  const auto step = static_cast<unsigned>(args[1]);
  if (step >= kMaxSteps || args[0] < 0 || args[0] > 1) return;
  const std::lock_guard lock(g_arrived_mutex);
  std::optional<BarrierName>& slot = g_arrived[static_cast<size_t>(args[0])][step];
  ensure("a member is at most one phase of the named barrier ahead", [&] { return !slot; });
  slot = BarrierName{static_cast<BarrierName::Kind>(args[2]), args[3]};
}

}  // namespace causeway
