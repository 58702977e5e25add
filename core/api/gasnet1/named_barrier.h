// The named split-phase barrier of GASNet-1 (3.5) over a team: members agree that all have come,
// and on the name they gave. One at a time in a process, as the specification has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collective/inquiry.h"
#include "progress/hints.h"

namespace causeway {

class Team;
struct Peer;

// The name of the barrier as a member, or a set of members, gives it.
struct BarrierName {
  enum Kind : int32_t { none, named, mismatch };
  Kind kind;
  int32_t id;
};

// Begins a phase; does not wait. finish_named_barrier() must have ended the previous phase. Any
// thread.
void begin_named_barrier(Team& team, BarrierName own);
// Has every member begun it?
bool named_barrier_done();
// The members' common word; ends the phase. After named_barrier_done() said yes.
BarrierName finish_named_barrier();

// Set while a phase is under way and not all have come. Relaxed: a hint; g_mutex orders the rest.
[[gnu::visibility("hidden")]] inline PollHint named_barrier_active;  // 0 or 1
uint32_t push_named_barrier();

// Part of every poll, so that others come through while this member computes between its notify
// and its wait.
inline uint32_t progress_named_barrier() {
  if (__builtin_expect(named_barrier_active.load(std::memory_order_relaxed) == 0, 1)) return 0;
  return push_named_barrier();
}

// For inquiries: the phase under way, where that rank of the job takes part, and how far this
// process is; nothing while another thread is at it.
CollectiveWait named_barrier_with(uint32_t job_rank);
std::optional<HowFar> named_barrier_how_far(uint64_t seq);

void on_named_barrier(Peer& from, const int32_t* args, unsigned nargs, void* payload,
                      size_t length);

}  // namespace causeway
