#include "collective/engine.h"

#include <fmt/core.h>

#include <mutex>
#include <thread>
#include <vector>

#include "am/arguments.h"
#include "base/context.h"
#include "collective/arena.h"
#include "collective/table.h"
#include "collective/team_runs.h"
#include "progress/waiter.h"

namespace causeway {
namespace {

// Every team that has collectives. Polls hold a share of the team they step, so that they need
// not keep this mutex meanwhile.
std::mutex g_teams_mutex;
std::vector<std::shared_ptr<TeamRuns>> g_teams;

// The next team at or after `index` with something to do; `index` moves behind it.
std::shared_ptr<TeamRuns> next_busy(size_t& index) {
  const std::unique_lock lock(g_teams_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return nullptr;
  while (index < g_teams.size()) {
    const std::shared_ptr<TeamRuns>& team = g_teams[index++];
    if (!team->idle()) return team;
  }
  return nullptr;
}

// Nothing waits for this answer, so the team may be gone.
void learn_offset(uint32_t team_id, uint32_t rank, uint32_t sender, uint64_t offset) {
  const std::shared_ptr<Mailbox> box = known_mailbox(team_id, rank);
  if (box == nullptr) return;
  const std::lock_guard lock(box->mutex);
  if (box->team == nullptr || sender >= box->team->info().size) return;
  // Release: pairs with TeamRuns::map.
  box->team->link(sender).offset.store(offset, std::memory_order_release);
}

void take_post(uint32_t team_id, uint32_t rank, uint32_t sender, const int32_t* args,
               const void* payload, size_t length) {
  const uint64_t seq = join_halves(args[4], args[5]), offset = join_halves(args[7], args[8]);
  const auto which = static_cast<uint32_t>(args[6]);
  const std::shared_ptr<Mailbox> box = mailbox(team_id, rank);
  if (box == nullptr) return;  // late
  const std::lock_guard lock(box->mutex);
  if (box->team == nullptr) {
    const char* bytes = static_cast<const char*>(payload);
    box->early.push_back({seq, 0, which, std::vector<char>(bytes, bytes + length), true, sender});
    return;
  }
  if (sender >= box->team->info().size) return;
  box->team->deliver_post(sender, seq, which, payload, length);
  // Release: pairs with TeamRuns::map. A board that is not in the arena cannot be looked at.
  uint64_t unknown = Link::kUnknown;
  if (offset != kNoOffset) {
    box->team->link(sender).offset.compare_exchange_strong(
        unknown, offset, std::memory_order_release, std::memory_order_relaxed);
  }
}

TeamRuns& runs_of(Team& team) {
  TeamPart& part = team.collectives([](Team* t) -> TeamPart* { return new TeamCollectives(t); });
  return static_cast<TeamCollectives&>(part).runs();
}

}  // namespace

TeamCollectives::TeamCollectives(Team* team) : runs_(std::make_shared<TeamRuns>(team)) {
  const std::lock_guard lock(g_teams_mutex);
  g_teams.push_back(runs_);
}

TeamCollectives::~TeamCollectives() {
  {
    const std::lock_guard lock(g_teams_mutex);
    std::erase(g_teams, runs_);
  }
  // A poll of another thread may be looking at the idle team still.
  while (runs_.use_count() > 1) std::this_thread::yield();
}

gex_Event_t start_barrier(Team& team) {
  // The barrier's release is that of its signals and messages, which are stored with release after
  // everything this thread wrote.
  cwyl_args args{};
  args.head = CWY_HEAD(cwyl_args);
  args.operation = CWYL_BARRIER;
  return runs_of(team).begin(args, {});
}

gex_Event_t start_collective(Team& team, cwyl_operation operation, gex_Rank_t root, void* dst,
                             const void* src, const Reduction& r) {
  const uint32_t flags = r.op == GEX_OP_USER_NC ? CWYL_NEED_ORDER : 0;
  return runs_of(team).begin({CWY_HEAD(cwyl_args), operation, flags, root, r.dt, r.op, 0,
                              r.element_bytes, r.count, dst, src},
                             r);
}

uint32_t step_runs() {
  uint32_t events = 0;
  size_t index = 0;
  while (const std::shared_ptr<TeamRuns> team = next_busy(index)) events += team->step();
  return events;
}

CollectiveWait run_with(uint32_t job_rank) {
  CollectiveWait wait;
  size_t index = 0;
  while (wait.call == nullptr) {
    const std::shared_ptr<TeamRuns> team = next_busy(index);
    if (team == nullptr) break;
    wait = team->oldest_with(job_rank);
  }
  return wait;
}

std::optional<HowFar> run_how_far(uint32_t team_id, uint32_t rank, uint64_t seq) {
  const std::shared_ptr<Mailbox> box = known_mailbox(team_id, rank);
  if (box == nullptr) return HowFar{};
  const std::lock_guard lock(box->mutex);
  return box->team == nullptr ? HowFar{} : box->team->how_far(seq);
}

std::string text_of(TeamRuns& team) {
  const Team& on = team.team();
  const CollectiveWait wait = team.oldest_with(on.job_rank(on.rank()));
  if (wait.call == nullptr) return "a collective";
  return fmt::format("{}, number {} on a team of {}, id {}", wait.call, wait.seq, on.size(),
                     on.id());
}

bool step_for(Waiter& waiter, TeamRuns& team) {
  // So often is a team looked at between two polls of everything. Among ranks that share processors
  // everybody else gets a turn at once.
  constexpr uint32_t kTeamLooks = 8;
  const bool arrives_by_memory = team.info().nbrhd_size > 1;
  const uint32_t looks = Waiter::spins_long() && arrives_by_memory ? kTeamLooks : 1;
  for (uint32_t i = 0; i < looks; ++i) {
    if (team.step() == 0) continue;
    waiter.forget_idleness();
    return true;
  }
  waiter.step();
  return false;
}

void announce_nap() {
  char* const arena = own_arena();
  if (arena == nullptr) return;
  arena_head(arena).napping.fetch_add(1, std::memory_order_seq_cst);
  fence_others();
  // Looks at signals are no more than acquire: they come after the announcement by this.
  if (!naps_are_fenced()) __sync_synchronize();
}
void end_nap() {
  if (char* arena = own_arena()) arena_head(arena).napping.fetch_sub(1, std::memory_order_relaxed);
}

void on_collective_signal(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                          size_t length) {
  const auto message = static_cast<CollectiveMessage>(args[0]);
  if (message == CollectiveMessage::nudge || nargs < 6) return;  // arriving is all it has to do
  if (message == CollectiveMessage::how_far || message == CollectiveMessage::so_far)
    return on_inquiry(from, args, nargs);
  const auto team_id = static_cast<uint32_t>(args[1]), rank = static_cast<uint32_t>(args[2]),
             sender = static_cast<uint32_t>(args[3]);
  if (message == CollectiveMessage::block_offset) {
    learn_offset(team_id, rank, sender, join_halves(args[4], args[5]));
    return;
  }
  if (nargs < 8) return;
  if (message == CollectiveMessage::post) {
    if (nargs >= 9) take_post(team_id, rank, sender, args, payload, length);
    return;
  }
  const std::shared_ptr<Mailbox> box = mailbox(team_id, rank);
  if (box == nullptr) return;  // late
  uint64_t own_offset;
  {
    const std::lock_guard lock(box->mutex);
    const uint64_t seq = join_halves(args[4], args[5]);
    const auto signal = static_cast<uint32_t>(args[6]), offset = static_cast<uint32_t>(args[7]);
    if (message == CollectiveMessage::placed) length = 0;
    if (box->team == nullptr) {
      const char* bytes = static_cast<const char*>(payload);
      box->early.push_back({seq, offset, signal, std::vector<char>(bytes, bytes + length)});
      return;
    }
    box->team->deliver(seq, offset, payload, length, signal);
    own_offset = box->team->block_offset();
  }
  if (message != CollectiveMessage::put_and_ask) return;
  reply_internal(from, Internal::signal,
                 handler_args(CollectiveMessage::block_offset, team_id, sender, rank, own_offset));
}

void report_collectives(const std::function<void(const std::string&)>& line) {
  std::string text;
  for (const CollectiveTable::Candidate& c : context().collectives().candidates()) {
    const uint64_t runs = c.runs->load(std::memory_order_relaxed);
    if (runs == 0) continue;
    text += fmt::format("{}{} {}/{} {}", text.empty() ? "" : ", ",
                        operation_word(c.algorithm->operation), c.plugin, c.algorithm->name, runs);
  }
  if (!text.empty()) line("collectives: " + text);
}

}  // namespace causeway
