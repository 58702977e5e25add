// Collective plugin `hier`: algorithms for teams whose members share memory, all or some.

#include "hier.h"
#include "two_level.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: collective\n"
    "name: hier\n"
    "version: 1.3.0\n"
    "api: \"2.0\"\n"
    "min_core_minor: 0\n"
    "summary: collectives through shared memory, within a neighborhood and between several\n"
    "license: BSD-3-Clause\n");

namespace hier {
namespace {

template <class State, cwy_status (*Body)(const Run&, State*)>
cwy_status step(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                const cwyl_args* args, void* memory) {
  const Run run{team, services, seq, args, services->info(team)};
  return Body(run, static_cast<State*>(memory));
}

// The condition of all of these: members that share memory, and not too many of them.
bool together(const cwyl_shape* s, uint32_t most) {
  return s->nbrhd_count == 1 && s->team_size <= most;
}

// Each step of `base`'s algorithms waits for everybody's turn where members share processors: 16 on
// two need 0.6 of the time or less for what goes by posts (tests/perf/results/side_by_side.md). 9
// to 16 members with a processor for each were not measured.
int32_t score_flat(const cwyl_shape* s) {
  if (!together(s, kFlatTeam) || s->bytes > kFlatBytes) return -1;
  return s->team_size <= 8 ? 40 : s->bytes <= kPostAlways ? 30 : 15;
}
// All operands lie in the scratch side by side; no more than a quarter of it is counted on.
int32_t score_flat_reduce(const cwyl_shape* s) {
  const uint64_t slot = (s->bytes + 63) / 64 * 64;
  return slot * s->team_size <= s->scratch_bytes / 4 ? score_flat(s) : -1;
}
// As `causeway tune` found it with 2 to 4 members: at 4 KiB `shared` takes half of the time of
// `base`'s best in reductions, and less than it in a broadcast. Larger teams were not measured with
// a processor for each.
uint64_t shared_from(const cwyl_shape* s) {
  return s->team_size <= 8 ? 4 << 10 : 8 << 10;
}
int32_t score_shared_broadcast(const cwyl_shape* s) {
  return together(s, kSharedTeam) ? (s->bytes >= shared_from(s) ? 40 : 5) : -1;
}
// Without direct access a piece of the scratch must hold an element of every member, four times,
// and one put must take it. How much that is depends on the conduits and is no fact of the shape:
// what every put takes is. Longer elements are `base`'s, which cuts them.
int32_t score_shared_reduce(const cwyl_shape* s) {
  if (!together(s, kSharedTeam) || s->element_bytes > kPutAlways) return -1;
  const uint64_t told = uint64_t{s->team_size} * 80 + 128, room = s->scratch_bytes / 4;
  if (room <= told || (room - told) / (4 * s->team_size) / 64 * 64 < s->element_bytes) return -1;
  return s->bytes >= shared_from(s) ? 40 : 5;
}

template <class State, cwy_status (*Body)(const Run&, State*)>
constexpr cwyl_candidate candidate(const char* name, uint32_t operation, uint32_t most,
                                   int32_t (*score)(const cwyl_shape*)) {
  return {CWY_HEAD(cwyl_candidate), name,       operation,
          /*keeps_order=*/1,
          /*min_bytes=*/0,          UINT64_MAX,
          /*min_team=*/1,           most,       sizeof(State),
          /*reserved=*/0,           score,      step<State, Body>, step<State, Body>};
}

const cwyl_candidate kAll[] = {
    candidate<Flat, flat_barrier>("flat", CWYL_BARRIER, kFlatTeam, score_flat),
    candidate<Flat, flat_broadcast>("flat", CWYL_BROADCAST, kFlatTeam, score_flat),
    candidate<Flat, flat_reduce_all>("flat", CWYL_REDUCE_ALL, kFlatTeam, score_flat_reduce),
    candidate<SharedBroadcast, shared_broadcast>("shared", CWYL_BROADCAST, kSharedTeam,
                                                 score_shared_broadcast),
    candidate<SharedReduce, shared_reduce>("shared", CWYL_REDUCE_ONE, kSharedTeam,
                                           score_shared_reduce),
    candidate<SharedReduce, shared_reduce>("shared", CWYL_REDUCE_ALL, kSharedTeam,
                                           score_shared_reduce),
};
constexpr uint32_t kFlat = sizeof kAll / sizeof *kAll;
cwyl_candidate two_level[kTwoLevels];
const cwyl_candidate* list[kFlat + kTwoLevels];

void fini() {}

const cwyl_module kModule = {CWY_HEAD(cwyl_module), 0, kFlat + kTwoLevels, list, 0, fini};

}  // namespace
}  // namespace hier

extern "C" CWY_EXPORT cwy_status CWY_COLLECTIVE_INIT(const cwy_services*,
                                                     const cwyl_module** module, cwy_err*) {
  hier::list_two_level(hier::two_level);
  for (uint32_t i = 0; i < hier::kFlat; ++i) hier::list[i] = &hier::kAll[i];
  for (uint32_t i = 0; i < hier::kTwoLevels; ++i) hier::list[hier::kFlat + i] = &hier::two_level[i];
  *module = &hier::kModule;
  return CWY_OK;
}
