// Engine: runs the state machines of collective plugins. Implements the team services of
// causeway/collective.h over active messages and makes the runs go forward in every poll.
#pragma once

#include <causeway/collective.h>
#include <gasnet_fwd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace causeway {

class Team;
struct Peer;

// What a team keeps for its collectives. A `cwyl_team*` points here.
struct TeamCollectives {
  explicit TeamCollectives(Team* team);
  Team* team;
  cwyl_team_info info{};
  std::vector<uint32_t> nbrhd_of;
  std::vector<uint32_t> nbrhd_ranks;
  cwyl_seq next_seq = 0;
};

// Begins a barrier. GEX_EVENT_INVALID when it is already complete. Throws Error.
gex_Event_t start_barrier(Team& team);

// Runs that are not complete. Relaxed: a hint whether there is anything to step.
inline std::atomic<uint32_t> active_runs{0};
uint32_t step_runs();

// Steps every active run. Returns how many completed or moved.
inline uint32_t progress_collectives() {
  if (__builtin_expect(active_runs.load(std::memory_order_relaxed) == 0, 1)) return 0;
  return step_runs();
}

void on_collective_signal(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                          size_t length);

}  // namespace causeway
