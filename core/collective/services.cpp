// The team services of causeway/collective.h. Each is called from a run's start() or step(), so
// with the mutex of its TeamRuns held and with the run as the current one.
#include <cstdint>
#include <cstring>

#include "collective/arena.h"
#include "collective/stream_copy.h"
#include "collective/team_runs.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

const cwyl_team_info* info(TeamRuns& t) {
  return &t.info();
}

uint64_t signal(TeamRuns& t, cwyl_seq seq, uint32_t signal) {
  if (signal >= kSignals) return 0;
  t.current().looked_at_signals = true;
  const uint64_t raised = t.block().signal(seq, signal).load(std::memory_order_acquire);
  annotate_receive();
  return raised;
}

void* scratch(TeamRuns& t, cwyl_seq seq, uint64_t* length) {
  *length = t.scratch_bytes();
  return t.block().scratch(seq);
}

void reduce_into(TeamRuns& t, cwyl_seq, const void* left, const void* right, void* out,
                 uint64_t count) {
  t.moved();
  apply_reduction(t.current(), left, right, out, count);
}
void reduce(TeamRuns& t, cwyl_seq seq, const void* left, void* inout, uint64_t count) {
  reduce_into(t, seq, left, inout, inout, count);
}

void copy(TeamRuns& t, cwyl_seq, void* dst, const void* src, uint64_t length) {
  t.moved();
  if (length == 0) return;
  const auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  // Scratch is read again at once.
  const auto arena = reinterpret_cast<uintptr_t>(own_arena());
  const bool to_scratch = to - arena < arena_bytes();
  if (t.current().streams && !to_scratch && (to + length <= from || from + length <= to))
    stream_copy(dst, src, length);
  else
    std::memmove(dst, src, length);
}

// The service that a function of a team's runs performs, or a member function of them.
template <auto Function>
struct Service;
template <typename Result, typename... Args, Result (*Function)(TeamRuns&, Args...)>
struct Service<Function> {
  static Result call(cwyl_team* team, Args... args) {
    return Function(TeamRuns::of(team), args...);
  }
};
template <typename Result, typename... Args, Result (TeamRuns::*Function)(Args...)>
struct Service<Function> {
  static Result call(cwyl_team* team, Args... args) {
    return (TeamRuns::of(team).*Function)(args...);
  }
};

}  // namespace

const cwyl_team_services kTeamServices = {CWY_HEAD(cwyl_team_services),
                                          Service<info>::call,
                                          Service<&TeamRuns::put>::call,
                                          Service<signal>::call,
                                          Service<scratch>::call,
                                          Service<expose_region>::call,
                                          Service<direct_region>::call,
                                          Service<put_region>::call,
                                          Service<get_region>::call,
                                          Service<reduce>::call,
                                          Service<copy>::call,
                                          Service<reduce_into>::call,
                                          Service<&TeamRuns::memory>::call,
                                          Service<&TeamRuns::post>::call,
                                          Service<&TeamRuns::posted>::call,
                                          Service<put_region_signal>::call};

}  // namespace causeway
