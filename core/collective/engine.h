// Engine: runs the state machines of collective plugins. Implements the team services of
// causeway/collective.h and makes the runs go forward in every poll.
#pragma once

#include <causeway/collective.h>
#include <gasnet_fwd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collective/inquiry.h"
#include "object/team.h"
#include "progress/hints.h"

namespace causeway {

class Team;
class TeamRuns;
class Waiter;
struct Peer;

// A team's state of its collectives, made when the first one begins or at any time before.
// Works on every team whose id(), rank(), size() and member() answer: needs no communication to
// be made, and messages of members that are ahead wait for it. The team must have no collective
// under way when it is destroyed.
class TeamCollectives final : public TeamPart {
 public:
  explicit TeamCollectives(Team* team);
  ~TeamCollectives() override;
  TeamCollectives(const TeamCollectives&) = delete;
  TeamCollectives& operator=(const TeamCollectives&) = delete;
  TeamRuns& runs() { return *runs_; }

 private:
  std::shared_ptr<TeamRuns> runs_;
};

// The elements of a collective, and the operator of a reduction. `fn` is NULL for the built-in
// ones.
struct Reduction {
  gex_DT_t dt;
  gex_OP_t op;
  size_t element_bytes;
  size_t count;
  void (*fn)(const void* left, void* right_and_out, size_t count, const void* cdata);
  void* cdata;
};

// Begins a collective; GEX_EVENT_INVALID when it is already complete. Arguments have been checked.
// From client context. Throws Error when no algorithm serves the call. What is broadcast are
// elements of one byte.
gex_Event_t start_collective(Team& team, cwyl_operation operation, gex_Rank_t root, void* dst,
                             const void* src, const Reduction& reduction);
gex_Event_t start_barrier(Team& team);

// For inquiries (inquiry.h): a run that has that rank of the job among its members, and how far
// this member of that team is; nothing while another thread is at it.
CollectiveWait run_with(uint32_t job_rank);
std::optional<HowFar> run_how_far(uint32_t team_id, uint32_t rank, uint64_t seq);

// Runs that are not complete. Relaxed: a hint whether there is anything to step.
[[gnu::visibility("hidden")]] inline PollHint active_runs;
uint32_t step_runs();

// Steps every active run. Returns how many completed or moved.
inline uint32_t progress_collectives() {
  if (__builtin_expect(active_runs.load(std::memory_order_relaxed) == 0, 1)) return 0;
  return step_runs();
}

// A step of who waits for a collective of that team: its runs come first, some times in a row, for
// a neighbor's flag is a matter of a few hundred nanoseconds. True when they moved.
bool step_for(Waiter& waiter, TeamRuns& team);

// The oldest run under way, for a person: "gex_Coll_BarrierNB(), number 17 on a team of 4, id 0".
// `causeway ps` reads it.
std::string text_of(TeamRuns& team);

// This thread is about to sleep: neighbors that raise a signal from now on send a message too.
// The caller polls once more between the announcement and its sleep.
void announce_nap();
void end_nap();

void on_collective_signal(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                          size_t length);

// A line that says how often each algorithm ran in this process; nothing when none did.
void report_collectives(const std::function<void(const std::string&)>& line);

}  // namespace causeway
