#include "two_level.h"

#include <stdio.h>
#include <string.h>

#include <utility>

#include "../common/algorithms.h"
#include "../common/schedule.h"
#include "part.h"

namespace hier {
namespace {

// Up within the neighborhood, across between leaders, down within the neighborhood. A broadcast
// begins across, a reduction to one ends there. The root leads its neighborhood; elsewhere the
// member with the lowest rank does.
enum Phase : uint32_t { kUp, kAcross, kDown, kEnd };

// The run's signals: those of each phase are its own. Down and up share scratch: a leader goes
// down only after all that went up has been taken.
constexpr uint32_t kLocalSignals = 16, kAcrossSignals = 32;
static_assert(2 * kLocalSignals + kAcrossSignals <= 64);
// A member's post on the way up, a leader's on the way down.
constexpr uint32_t kUpPost = 0, kDownPost = 1;
// So many members a tree of the local phases can have with its signals.
constexpr uint32_t kMostNeighbors = 64;
// So many leaders the algorithms between them can have with theirs: a k-nomial tree takes three for
// each pair of bits, the others two for each bit.
constexpr uint32_t kMostLeaders = 32768, kMostKnomialLeaders = 1024;
// From here on pieces down a chain beat a tree.
constexpr uint64_t kChainBytes = 64 << 10;

struct TwoLevel {
  uint32_t phase, begun, next, posted;
  uint32_t index;  // of the algorithm between leaders
  uint32_t leads;
  uint32_t leader;  // rank of this neighborhood's
  cwyl_args args;   // of the phase under way
  Part local, leaders;
  uint8_t* value;  // what this neighborhood has combined
  base::Schedule schedule;
};

bool is_reduction(const Run& run) {
  return run.args->operation == CWYL_REDUCE_ONE || run.args->operation == CWYL_REDUCE_ALL;
}
bool has_root(const Run& run) {
  return run.args->operation == CWYL_BROADCAST || run.args->operation == CWYL_REDUCE_ONE;
}
bool by_posts(const Run& run) {
  return run.info->posts != 0 && run.bytes() <= run.info->post_max;
}

// Leaders' ranks by neighborhood, and who leads here.
bool prepare(const Run& run, TwoLevel* t) {
  const cwyl_team_info& info = *run.info;
  const uint32_t most = info.nbrhd_count > info.nbrhd_size ? info.nbrhd_count : info.nbrhd_size;
  auto* const table = static_cast<uint32_t*>(
      run.s->memory(run.team, run.seq, uint64_t{4} * (info.nbrhd_count + most + 1)));
  if (table == nullptr) return false;
  uint32_t* const leaders = table;
  uint32_t* const identity = table + info.nbrhd_count;
  for (uint32_t i = 0; i <= most; ++i) identity[i] = i;
  // Neighborhoods are numbered by their lowest rank, so each first appears in order.
  for (uint32_t r = 0, found = 0; found < info.nbrhd_count; ++r) {
    if (info.nbrhd_of[r] == found) leaders[found++] = r;
  }
  if (has_root(run)) leaders[info.nbrhd_of[run.args->root]] = run.args->root;
  t->leader = leaders[info.nbrhd_index];
  t->leads = t->leader == info.rank;
  uint64_t room = 0;
  run.scratch(&room);
  const uint64_t half = room / 2 / 64 * 64;
  make_part(&t->local, run, info.nbrhd_ranks, info.nbrhd_size, info.nbrhd_rank, true, identity,
            {0, kLocalSignals, 0, half});
  make_part(&t->leaders, run, leaders, info.nbrhd_count, info.nbrhd_index, false, identity,
            {2 * kLocalSignals, kAcrossSignals, half, half});
  // Where the combination goes. A member that only passes on has no result of its own.
  if (is_reduction(run) && t->leads) {
    const bool keeps = run.args->operation == CWYL_REDUCE_ALL || info.rank == run.args->root;
    t->value = static_cast<uint8_t*>(keeps ? run.args->dst
                                           : run.s->memory(run.team, run.seq, run.bytes()));
    if (t->value == nullptr) return false;
  }
  return true;
}

uint32_t local_rank(const Run& run, uint32_t rank) {
  uint32_t i = 0;
  while (run.info->nbrhd_ranks[i] != rank) ++i;
  return i;
}

// ---- within the neighborhood, short: posts ----

cwy_status show(const Run& run, TwoLevel* t, uint32_t which, const void* src) {
  if (t->posted) return CWY_OK;
  const cwy_status status = run.s->post(run.team, run.seq, which, src, run.bytes());
  if (status == CWY_OK) t->posted = 1;
  return status == CWY_RETRY ? CWY_INPROGRESS : status;
}

// The leader combines in the order of the neighborhood's ranks: the last two first.
cwy_status up_by_posts(const Run& run, TwoLevel* t) {
  if (!t->leads) return show(run, t, kUpPost, run.args->src);
  const uint64_t bytes = run.bytes(), slot = (bytes + 63) / 64 * 64;
  uint64_t room;
  uint8_t* const heard = run.scratch(&room);
  const cwy_status status =
      hear_others(run, &t->next, kUpPost, is_reduction(run) ? bytes : 0,
                  [&](uint32_t of) { return heard + local_rank(run, of) * slot; });
  if (status != CWY_OK || !is_reduction(run)) return status;
  const auto operand = [&](uint32_t i) -> const void* {
    return i == run.info->nbrhd_rank ? run.args->src : heard + i * slot;
  };
  const uint32_t last = run.info->nbrhd_size - 1;
  if (last == 0) {
    if (t->value != run.args->src) run.s->copy(run.team, run.seq, t->value, run.args->src, bytes);
    return CWY_OK;
  }
  const void* right = operand(last);
  // One's own slot is free: the result may be where the source is, an operand still.
  uint8_t* const work = heard + run.info->nbrhd_rank * slot;
  for (uint32_t i = last; i-- != 0;) {
    uint8_t* const to = i == 0 ? t->value : work;
    run.s->reduce_into(run.team, run.seq, operand(i), right, to, run.args->count);
    right = to;
  }
  return CWY_OK;
}

cwy_status down_by_posts(const Run& run, TwoLevel* t) {
  if (t->leads) return show(run, t, kDownPost, run.args->dst);
  return run.s->posted(run.team, run.seq, t->leader, kDownPost, run.args->dst, run.bytes());
}

// ---- within the neighborhood, long: trees and chains through its scratch ----

cwy_status local_schedule(const Run& run, TwoLevel* t, Part* part, bool up) {
  cwyl_args& args = t->args;
  const base::Run inner{part->as_team(), &part_services, run.seq, &args, &part->info, &t->schedule};
  if (!t->begun) {
    t->begun = 1;
    args = *run.args;
    args.operation = up ? CWYL_REDUCE_ONE : CWYL_BROADCAST;
    args.flags = 0;
    args.root = local_rank(run, t->leader);
    args.dst = up ? t->value : run.args->dst;
    args.src = up ? run.args->src : run.args->dst;
    if (!up) {
      args.count = run.bytes();
      args.element_bytes = 1;
    }
    memset(&t->schedule, 0, sizeof t->schedule);
    const bool chain = run.bytes() >= kChainBytes;
    if (run.args->operation == CWYL_BARRIER) {
      up ? base::barrier_up(inner) : base::barrier_down(inner);
    } else if (up) {
      chain ? base::reduce_one_chain(inner) : base::reduce_one_binomial(inner);
    } else {
      chain ? base::broadcast_chain(inner) : base::broadcast_binomial(inner);
    }
    base::finish(inner);
  }
  return base::execute(inner);
}

// Down uses signals of its own.
Part* local_part(TwoLevel* t, bool up) {
  t->local.signal_at = up ? 0 : kLocalSignals;
  return &t->local;
}

// ---- between leaders ----

void set_leaders_args(const Run& run, TwoLevel* t) {
  t->args = *run.args;
  if (has_root(run)) t->args.root = run.info->nbrhd_of[run.args->root];
  if (is_reduction(run)) {
    t->args.src = t->value;
    t->args.dst = t->value;
  } else if (run.args->operation == CWYL_BROADCAST && run.info->rank != run.args->root) {
    t->args.src = run.args->dst;
  }
}

cwy_status across(const Run& run, TwoLevel* t) {
  const base::Algorithm& algorithm = base::catalogue[t->index];
  const bool first = !t->begun;
  if (first) {
    t->begun = 1;
    set_leaders_args(run, t);
    memset(&t->schedule, 0, sizeof t->schedule);
  }
  const base::Step call = first ? algorithm.start : algorithm.step;
  return call(t->leaders.as_team(), &part_services, run.seq, &t->args, &t->schedule);
}

// ---- the whole ----

cwy_status phase(const Run& run, TwoLevel* t) {
  const uint32_t operation = run.args->operation;
  switch (t->phase) {
    case kUp:
      if (operation == CWYL_BROADCAST) return CWY_OK;
      return by_posts(run) ? up_by_posts(run, t)
                           : local_schedule(run, t, local_part(t, true), true);
    case kAcross:
      return t->leads ? across(run, t) : CWY_OK;
    default:
      if (operation == CWYL_REDUCE_ONE) return CWY_OK;
      return by_posts(run) ? down_by_posts(run, t)
                           : local_schedule(run, t, local_part(t, false), false);
  }
}

template <uint32_t Index>
cwy_status step(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                const cwyl_args* args, void* memory) {
  const Run run{team, services, seq, args, services->info(team)};
  auto* const t = static_cast<TwoLevel*>(memory);
  if (args->operation != CWYL_BARRIER && run.bytes() == 0) return CWY_OK;
  if (t->local.whole == nullptr) {
    t->index = Index;
    if (!prepare(run, t)) return CWY_ERR_NOMEM;
  }
  for (; t->phase != kEnd; ++t->phase) {
    const cwy_status status = phase(run, t);
    if (status != CWY_OK) return status;
    t->begun = t->next = t->posted = 0;
  }
  return CWY_OK;
}

// Where there is something to gain: several neighborhoods, and one of several members. The rest as
// the algorithm scores itself, for the leaders.
template <uint32_t Index>
int32_t score(const cwyl_shape* shape) {
  if (shape->nbrhd_count < 2 || shape->nbrhd_most < 2 || shape->nbrhd_most > kMostNeighbors) {
    return -1;
  }
  const bool knomial = strcmp(base::catalogue[Index].name, "knomial") == 0;
  if (shape->nbrhd_count > (knomial ? kMostKnomialLeaders : kMostLeaders)) return -1;
  // Half of the scratch must hold short operands of a whole neighborhood.
  if (shape->scratch_bytes / 8 < uint64_t{128} * shape->nbrhd_most) return -1;
  cwyl_shape leaders = *shape;
  leaders.team_size = shape->nbrhd_count;
  leaders.nbrhd_most = 1;
  const int32_t of_leaders = base::catalogue[Index].score(&leaders);
  return of_leaders < 0 ? -1 : 20 + of_leaders;
}

template <uint32_t... Index>
void fill(cwyl_candidate* out, std::integer_sequence<uint32_t, Index...>) {
  static char names[kTwoLevels][40];
  const auto one = [&](uint32_t i, int32_t (*value)(const cwyl_shape*), base::Step run) {
    const base::Algorithm& a = base::catalogue[i];
    snprintf(names[i], sizeof names[i], "leaders_%s", a.name);
    // Neighborhoods need not be stretches of ranks, so what they combine is in no order.
    const bool reduction = a.operation == CWYL_REDUCE_ONE || a.operation == CWYL_REDUCE_ALL;
    out[i] = {CWY_HEAD(cwyl_candidate),
              names[i],
              a.operation,
              reduction ? 0u : 1u,
              /*min_bytes=*/0,
              UINT64_MAX,
              /*min_team=*/3,
              base::kMostMembers,
              1u << CWY_MEM_HOST,
              sizeof(TwoLevel),
              value,
              run,
              run};
  };
  (one(Index, score<Index>, step<Index>), ...);
}

}  // namespace

void list_two_level(cwyl_candidate* out) {
  fill(out, std::make_integer_sequence<uint32_t, kTwoLevels>());
}

}  // namespace hier
