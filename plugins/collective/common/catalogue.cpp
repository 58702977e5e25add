#include "catalogue.h"

#include "algorithms.h"

namespace base {
namespace {

// ---- barrier by dissemination ----

// Hensgen, Finkel, Manber 1988: in round k every member signals the one 2^k ranks further on and
// waits for the one 2^k behind; ceil(log2 n) rounds. The smallest example of a state machine.
struct Dissemination {
  uint32_t round;
  uint32_t sent; /* this round's signal is out */
};

cwy_status disseminate(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                       const cwyl_args*, void* memory) {
  auto* state = static_cast<Dissemination*>(memory);
  const cwyl_team_info* info = services->info(team);
  while ((uint64_t{1} << state->round) < info->size) {
    if (!state->sent) {
      const auto to =
          static_cast<uint32_t>((info->rank + (uint64_t{1} << state->round)) % info->size);
      const cwy_status status = services->put_signal(team, seq, to, nullptr, 0, 0, state->round);
      if (status == CWY_RETRY) return CWY_INPROGRESS;
      if (status != CWY_OK) return status;
      state->sent = 1;
    }
    if (services->signal(team, seq, state->round) == 0) return CWY_INPROGRESS;
    state->sent = 0;
    ++state->round;
  }
  return CWY_OK;
}

// ---- everything else: a schedule, written at the start ----

template <void (*Write)(const Run&)>
cwy_status start(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                 const cwyl_args* args, void* memory) {
  const Run run{team, services, seq, args, services->info(team), static_cast<Schedule*>(memory)};
  // Nothing to move is nothing to do, for everybody; a barrier moves nothing too, but waits.
  if (args->operation != CWYL_BARRIER && args->element_bytes * args->count == 0) return CWY_OK;
  Write(run);
  finish(run);
  return execute(run);
}

cwy_status step(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                const cwyl_args* args, void* memory) {
  const Run run{team, services, seq, args, services->info(team), static_cast<Schedule*>(memory)};
  return execute(run);
}

// ---- scores: which one when nobody says ----
// Trees and doubling take the fewest rounds, so they serve what is short; chains, rings and halving
// move the fewest bytes per member, so they serve what is long.

// Between neighborhoods a message costs as much as tens of KiB, within one as much as a few, so the
// borders differ. The first were measured with 4 ranks over TCP (a round 13 us, 1 ns a byte), where
// a faster network has shorter rounds and more bytes in them; the others with 2 to 4 ranks over
// shared memory.

constexpr uint64_t kKi = 1024;

uint64_t border(const cwyl_shape* s, uint64_t between, uint64_t within) {
  return (s->nbrhd_count > 1 ? between : within) * kKi;
}

int32_t always(const cwyl_shape*) {
  return 20;
}
int32_t last_resort(const cwyl_shape*) {
  return 5;
}
int32_t score_tree_barrier(const cwyl_shape* s) {
  return s->team_size > 64 ? 25 : 10;
}
// Sending three messages takes less time than passing one on.
int32_t score_knomial(const cwyl_shape* s) {
  return s->bytes <= border(s, 32, 4) ? 25 : 10;
}
int32_t score_broadcast_chain(const cwyl_shape* s) {
  return s->bytes >= border(s, 96, 32) * s->team_size ? 30 : 8;
}
// Goes through slots, not straight, and so pays later: among four members of a network a tree of
// two levels took 0.76 of its time at 2 MiB and 0.87 at 8 MiB.
int32_t score_reduce_chain(const cwyl_shape* s) {
  if (s->nbrhd_count > 1 && s->team_size <= 4) return 8;
  return s->bytes >= border(s, 256, 32) * s->team_size ? 30 : 8;
}
int32_t score_halving(const cwyl_shape* s) {
  return s->bytes >= 64 * kKi && s->team_size > 8 ? 28 : 6;
}
// Twice the rounds of doubling, for fewer bytes, of which it saves the more the larger the team.
int32_t score_all_rabenseifner(const cwyl_shape* s) {
  return s->bytes >= border(s, s->team_size > 4 ? 24 : 48, 4) ? 25 : 15;
}
int32_t score_ring(const cwyl_shape* s) {
  return s->bytes >= border(s, 96, 32) * s->team_size ? 30 : 7;
}

template <void (*Write)(const Run&)>
constexpr Algorithm scheduled(const char* name, uint32_t operation, uint32_t keeps_order,
                              int32_t (*score)(const cwyl_shape*)) {
  return {name, operation, keeps_order, score, sizeof(Schedule), start<Write>, step};
}

}  // namespace

const Algorithm catalogue[kAlgorithms] = {
    {"dissemination", CWYL_BARRIER, 1, always, sizeof(Dissemination), disseminate, disseminate},
    scheduled<barrier_tree>("tree", CWYL_BARRIER, 1, score_tree_barrier),
    scheduled<broadcast_binomial>("binomial", CWYL_BROADCAST, 1, always),
    scheduled<broadcast_knomial>("knomial", CWYL_BROADCAST, 1, score_knomial),
    scheduled<broadcast_chain>("chain", CWYL_BROADCAST, 1, score_broadcast_chain),
    scheduled<broadcast_scatter_allgather>("scatter_allgather", CWYL_BROADCAST, 1, score_halving),
    scheduled<reduce_one_binomial>("binomial", CWYL_REDUCE_ONE, 1, always),
    scheduled<reduce_one_chain>("chain", CWYL_REDUCE_ONE, 1, score_reduce_chain),
    scheduled<reduce_one_rabenseifner>("rabenseifner", CWYL_REDUCE_ONE, 1, score_halving),
    scheduled<reduce_all_doubling>("doubling", CWYL_REDUCE_ALL, 1, always),
    scheduled<reduce_all_rabenseifner>("rabenseifner", CWYL_REDUCE_ALL, 1, score_all_rabenseifner),
    scheduled<reduce_all_ring>("ring", CWYL_REDUCE_ALL, 0, score_ring),
    scheduled<reduce_all_by_trees>("trees", CWYL_REDUCE_ALL, 1, last_resort),
};

}  // namespace base
