// The team services of causeway/collective.h. Each is called from a run's start() or step(), so
// with the mutex of its TeamRuns held and with the run as the current one.
#include <cstdint>
#include <cstring>

#include "collective/arena.h"
#include "collective/regions.h"
#include "collective/stream_copy.h"
#include "collective/team_runs.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

const cwyl_team_info* service_info(cwyl_team* team) {
  return &TeamRuns::of(team).info();
}

cwy_status service_put_signal(cwyl_team* team, cwyl_seq seq, uint32_t rank, const void* src,
                              uint64_t length, uint64_t offset, uint32_t signal) {
  return TeamRuns::of(team).put(rank, seq, src, length, offset, signal);
}

uint64_t service_signal(cwyl_team* team, cwyl_seq seq, uint32_t signal) {
  if (signal >= kSignals) return 0;
  TeamRuns& t = TeamRuns::of(team);
  t.current().looked_at_signals = true;
  const uint64_t raised = t.block().signal(seq, signal).load(std::memory_order_acquire);
  annotate_receive();
  return raised;
}

void* service_scratch(cwyl_team* team, cwyl_seq seq, uint64_t* length) {
  *length = TeamRuns::of(team).scratch_bytes();
  return TeamRuns::of(team).block().scratch(seq);
}

cwy_status service_expose(cwyl_team* team, cwyl_seq seq, void* addr, uint64_t length,
                          cwyl_region* out) {
  return expose_region(TeamRuns::of(team), seq, addr, length, out);
}
void* service_direct(cwyl_team* team, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                     uint64_t offset) {
  return direct_region(TeamRuns::of(team), seq, rank, *region, offset);
}
cwy_status service_put_region(cwyl_team* team, cwyl_seq seq, uint32_t rank,
                              const cwyl_region* region, uint64_t offset, const void* src,
                              uint64_t length, uint32_t* done) {
  return transfer_region(TeamRuns::of(team), seq, rank, *region, offset, const_cast<void*>(src),
                         length, done, true);
}
cwy_status service_get_region(cwyl_team* team, cwyl_seq seq, uint32_t rank,
                              const cwyl_region* region, uint64_t offset, void* dst,
                              uint64_t length, uint32_t* done) {
  return transfer_region(TeamRuns::of(team), seq, rank, *region, offset, dst, length, done, false);
}

cwy_status service_put_region_signal(cwyl_team* team, cwyl_seq seq, uint32_t rank,
                                     const cwyl_region* region, uint64_t offset, const void* src,
                                     uint64_t length, uint32_t signal, uint32_t* done) {
  return put_region_signal(TeamRuns::of(team), seq, rank, *region, offset, src, length, signal,
                           done);
}

void service_reduce(cwyl_team* team, cwyl_seq, const void* left, void* inout, uint64_t count) {
  TeamRuns& t = TeamRuns::of(team);
  t.moved();
  apply_reduction(t.current(), left, inout, inout, count);
}
void service_reduce_into(cwyl_team* team, cwyl_seq, const void* left, const void* right, void* out,
                         uint64_t count) {
  TeamRuns& t = TeamRuns::of(team);
  t.moved();
  apply_reduction(t.current(), left, right, out, count);
}
void service_copy(cwyl_team* team, cwyl_seq, void* dst, const void* src, uint64_t length) {
  TeamRuns& t = TeamRuns::of(team);
  t.moved();
  if (length == 0) return;
  const auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  // Scratch is read again at once.
  const auto arena = reinterpret_cast<uintptr_t>(own_arena());
  const bool to_scratch = to - arena < arena_bytes();
  if (t.current().streams && !to_scratch && (to + length <= from || from + length <= to)) {
    stream_copy(dst, src, length);
  } else {
    std::memmove(dst, src, length);
  }
}
cwy_status service_post(cwyl_team* team, cwyl_seq seq, uint32_t which, const void* src,
                        uint64_t length) {
  return TeamRuns::of(team).post(seq, which, src, length);
}
cwy_status service_posted(cwyl_team* team, cwyl_seq seq, uint32_t rank, uint32_t which, void* dst,
                          uint64_t length) {
  return TeamRuns::of(team).posted(seq, rank, which, dst, length);
}
void* service_memory(cwyl_team* team, cwyl_seq, uint64_t length) {
  return TeamRuns::of(team).memory(length);
}

}  // namespace

const cwyl_team_services kTeamServices = {CWY_HEAD(cwyl_team_services),
                                          service_info,
                                          service_put_signal,
                                          service_signal,
                                          service_scratch,
                                          service_expose,
                                          service_direct,
                                          service_put_region,
                                          service_get_region,
                                          service_reduce,
                                          service_copy,
                                          service_reduce_into,
                                          service_memory,
                                          service_post,
                                          service_posted,
                                          service_put_region_signal};

}  // namespace causeway
