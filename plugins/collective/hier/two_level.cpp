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
//
// Where the core knows the memory domains (NUMA nodes) of a neighborhood, up and down have two
// stages: within each domain, and between the domains' leaders. The leader of the neighborhood
// leads its domain; in the others the member with the lowest rank does. So a line crosses the
// border between two domains once each way.
enum Phase : uint32_t { kUp, kUpDomains, kAcross, kDownDomains, kDown, kEnd };

// The run's signals: those of each phase are its own. Up and down of one stage share scratch: a
// leader goes down only after all that went up has been taken (what a member passes on it has taken
// out of its slots before, so when the leader has it all, they are free). The stages have scratch
// of their own: a domain's leader may be late where other leaders are not.
//
// Each phase is a run of `base`'s schedules on a share of signals and scratch, which may be used
// again when it has ended (schedule.h), or is made of posts, which lie on the board until their
// readers have ended. A run ends after its last phase, and none of another member's can be under
// way in this member's scratch then.
constexpr uint32_t kLocalSignals = 32, kAcrossSignals = 32;
static_assert(kLocalSignals + kAcrossSignals <= 64);
// The purposes of posts: on the way up and on the way down, of each stage.
constexpr uint32_t kUpPost = 0, kDownPost = 1, kUpDomainsPost = 2, kDownDomainsPost = 3;
// So many members a tree of the local phases can have with its signals: one stage, two stages.
constexpr uint32_t kMostNeighbors = 64, kMostInTree = 8;
// So many leaders the algorithms between them can have with theirs: a k-nomial tree takes three for
// each pair of bits, the others two for each bit.
constexpr uint32_t kMostLeaders = 32768, kMostKnomialLeaders = 1024;
// From here on pieces down a chain beat a tree.
constexpr uint64_t kChainBytes = 64 << 10;

// A stage within the neighborhood, as this member sees it.
struct Stage {
  Group group;          // size 0: this member has no part in it
  uint32_t leader;      // its index in the group
  uint32_t up_signals;  // the run's signals of the way up; those of the way down follow
  Part part;
};

struct TwoLevel {
  uint32_t phase, begun, next, posted;
  uint32_t index;   // of the algorithm between leaders
  uint32_t leads;   // the neighborhood
  cwyl_args args;   // of the phase under way
  Stage stages[2];  // of which the second is between domains; without them its group has no members
  Part leaders;
  uint8_t* value;  // what this member has combined for others
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
// The same answer on all members.
bool has_domains(const Run& run) {
  return run.info->domain_of != nullptr && run.info->domain_count > run.info->nbrhd_count &&
         run.info->posts != 0;
}
bool leads(const Stage& stage) {
  return stage.group.size != 0 && stage.leader == stage.group.own;
}

// The members of the neighborhood for which `belongs(rank)`, into `ranks`.
template <class Belongs>
Group gather(const Run& run, uint32_t* ranks, Belongs belongs) {
  Group group{ranks, 0, 0};
  for (uint32_t i = 0; i < run.info->nbrhd_size; ++i) {
    const uint32_t rank = run.info->nbrhd_ranks[i];
    if (!belongs(rank)) continue;
    if (rank == run.info->rank) group.own = group.size;
    ranks[group.size++] = rank;
  }
  return group;
}
uint32_t index_in(const Group& group, uint32_t rank) {
  uint32_t i = 0;
  while (group.ranks[i] != rank) ++i;
  return i;
}

// This neighborhood's stages, for whom `leader` leads. `lists` has room for twice its members.
void make_stages(const Run& run, TwoLevel* t, uint32_t leader, uint32_t* lists,
                 const uint32_t* identity, uint64_t scratch) {
  const cwyl_team_info& info = *run.info;
  const bool two = has_domains(run);
  Stage &inner = t->stages[0], &outer = t->stages[1];
  const auto leader_of = [&](uint32_t domain) {
    if (info.domain_of[leader] == domain) return leader;
    uint32_t i = 0;
    while (info.domain_of[info.nbrhd_ranks[i]] != domain) ++i;
    return info.nbrhd_ranks[i];
  };
  const auto finish = [&](Stage& stage, uint32_t its_leader, uint32_t number) {
    stage.leader = index_in(stage.group, its_leader);
    const uint32_t signals = two ? kLocalSignals / 4 : kLocalSignals / 2;
    stage.up_signals = number * 2 * signals;
    const uint64_t room = (two ? scratch / 2 : scratch) / 64 * 64;
    make_part(&stage.part, run, stage.group.ranks, stage.group.size, stage.group.own, true,
              identity, {stage.up_signals, signals, number * room, room});
  };
  if (!two) {
    inner.group = {info.nbrhd_ranks, info.nbrhd_size, info.nbrhd_rank};
    finish(inner, leader, 0);
    return;
  }
  const uint32_t domain = info.domain_of[info.rank];
  inner.group = gather(run, lists, [&](uint32_t r) { return info.domain_of[r] == domain; });
  finish(inner, leader_of(domain), 0);
  if (!leads(inner)) return;
  outer.group = gather(run, lists + info.nbrhd_size,
                       [&](uint32_t r) { return leader_of(info.domain_of[r]) == r; });
  finish(outer, leader, 1);
}

// Leaders' ranks by neighborhood, and who leads here.
bool prepare(const Run& run, TwoLevel* t) {
  const cwyl_team_info& info = *run.info;
  const uint32_t most = info.nbrhd_count > info.nbrhd_size ? info.nbrhd_count : info.nbrhd_size;
  auto* const table = static_cast<uint32_t*>(run.s->memory(
      run.team, run.seq, uint64_t{4} * (info.nbrhd_count + most + 1 + 2 * info.nbrhd_size)));
  if (table == nullptr) return false;
  uint32_t* const leaders = table;
  uint32_t* const identity = table + info.nbrhd_count;
  for (uint32_t i = 0; i <= most; ++i) identity[i] = i;
  // Neighborhoods are numbered by their lowest rank, so each first appears in order.
  for (uint32_t r = 0, found = 0; found < info.nbrhd_count; ++r)
    if (info.nbrhd_of[r] == found) leaders[found++] = r;
  if (has_root(run)) leaders[info.nbrhd_of[run.args->root]] = run.args->root;
  const uint32_t leader = leaders[info.nbrhd_index];
  t->leads = leader == info.rank;
  uint64_t room = 0;
  run.scratch(&room);
  const uint64_t half = room / 2 / 64 * 64;
  make_stages(run, t, leader, identity + most + 1, identity, half);
  make_part(&t->leaders, run, leaders, info.nbrhd_count, info.nbrhd_index, false, identity,
            {kLocalSignals, kAcrossSignals, half, half});
  // Where the combination goes. A member that only passes on has no result of its own.
  if (is_reduction(run) && leads(t->stages[0])) {
    const bool keeps = run.args->operation == CWYL_REDUCE_ALL || info.rank == run.args->root;
    t->value = static_cast<uint8_t*>(keeps ? run.args->dst
                                           : run.s->memory(run.team, run.seq, run.bytes()));
    if (t->value == nullptr) return false;
  }
  return true;
}

// The operand that this member brings to a stage on the way up: its operand, or what it has
// combined before.
const void* brought(const Run& run, const TwoLevel* t, const Stage& stage) {
  return &stage == &t->stages[0] ? run.args->src : t->value;
}

// ---- within the neighborhood, short: posts ----

cwy_status show(const Run& run, TwoLevel* t, uint32_t which, const void* src) {
  if (t->posted) return CWY_OK;
  const cwy_status status = run.s->post(run.team, run.seq, which, src, run.bytes());
  if (status == CWY_OK) t->posted = 1;
  return status == CWY_RETRY ? CWY_INPROGRESS : status;
}

// The leader combines in the order of the group's ranks: the last two first.
cwy_status up_by_posts(const Run& run, TwoLevel* t, Stage& stage, uint32_t post) {
  const void* const mine = brought(run, t, stage);
  if (!leads(stage)) return show(run, t, post, mine);
  const Group& group = stage.group;
  const uint64_t bytes = run.bytes(), slot = (bytes + 63) / 64 * 64;
  uint64_t room;
  uint8_t* const heard = run.scratch(&room) + stage.part.scratch_at;
  const cwy_status status = hear_group(run, group, &t->next, post, is_reduction(run) ? bytes : 0,
                                       [&](uint32_t i) { return heard + i * slot; });
  if (status != CWY_OK || !is_reduction(run)) return status;
  const auto operand = [&](uint32_t i) -> const void* {
    return i == group.own ? mine : heard + i * slot;
  };
  if (group.size == 1) {
    if (t->value != mine) run.s->copy(run.team, run.seq, t->value, mine, bytes);
    return CWY_OK;
  }
  // One's own slot is free: the result may be where the source is, an operand still.
  combine(run, group.size, run.args->count, heard + group.own * slot, t->value, operand);
  return CWY_OK;
}

cwy_status down_by_posts(const Run& run, TwoLevel* t, Stage& stage, uint32_t post) {
  if (leads(stage)) return show(run, t, post, run.args->dst);
  return run.s->posted(run.team, run.seq, stage.group.ranks[stage.leader], post, run.args->dst,
                       run.bytes());
}

// ---- within the neighborhood, long: trees and chains through its scratch ----

cwy_status local_schedule(const Run& run, TwoLevel* t, Stage& stage, bool up) {
  // Down uses signals of its own.
  Part* const part = &stage.part;
  part->signal_at = stage.up_signals + (up ? 0 : static_cast<uint32_t>(part->info.signals));
  cwyl_args& args = t->args;
  const base::Run inner{part->as_team(), &part_services, run.seq, &args, &part->info, &t->schedule};
  if (!t->begun) {
    t->begun = 1;
    args = *run.args;
    args.operation = up ? CWYL_REDUCE_ONE : CWYL_BROADCAST;
    args.flags = 0;
    args.root = stage.leader;
    args.dst = up ? t->value : run.args->dst;
    args.src = up ? brought(run, t, stage) : run.args->dst;
    if (!up) {
      args.count = run.bytes();
      args.element_bytes = 1;
    }
    memset(&t->schedule, 0, sizeof t->schedule);
    const bool chain =
        run.bytes() >= kChainBytes || (has_domains(run) && stage.group.size > kMostInTree);
    if (run.args->operation == CWYL_BARRIER)
      up ? base::barrier_up(inner) : base::barrier_down(inner);
    else if (up)
      chain ? base::reduce_one_chain(inner) : base::reduce_one_binomial(inner);
    else
      chain ? base::broadcast_chain(inner) : base::broadcast_binomial(inner);
    base::finish(inner);
  }
  return base::execute(inner);
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

cwy_status climb(const Run& run, TwoLevel* t, Stage& stage, uint32_t post) {
  if (run.args->operation == CWYL_BROADCAST || stage.group.size == 0) return CWY_OK;
  return by_posts(run) ? up_by_posts(run, t, stage, post) : local_schedule(run, t, stage, true);
}
cwy_status descend(const Run& run, TwoLevel* t, Stage& stage, uint32_t post) {
  if (run.args->operation == CWYL_REDUCE_ONE || stage.group.size == 0) return CWY_OK;
  return by_posts(run) ? down_by_posts(run, t, stage, post) : local_schedule(run, t, stage, false);
}

cwy_status phase(const Run& run, TwoLevel* t) {
  switch (t->phase) {
    case kUp:
      return climb(run, t, t->stages[0], kUpPost);
    case kUpDomains:
      return climb(run, t, t->stages[1], kUpDomainsPost);
    case kAcross:
      return t->leads ? across(run, t) : CWY_OK;
    case kDownDomains:
      return descend(run, t, t->stages[1], kDownDomainsPost);
    default:
      return descend(run, t, t->stages[0], kDownPost);
  }
}

template <uint32_t Index>
cwy_status step(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                const cwyl_args* args, void* memory) {
  const Run run{team, services, seq, args, services->info(team)};
  auto* const t = static_cast<TwoLevel*>(memory);
  if (args->operation != CWYL_BARRIER && run.bytes() == 0) return CWY_OK;
  if (t->leaders.whole == nullptr) {
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

// Has the neighborhoods' scratch room for short operands of their members, and have they signals
// for as many?
bool has_room(const cwyl_shape* shape) {
  return shape->nbrhd_most <= kMostNeighbors &&
         shape->scratch_bytes / 8 >= uint64_t{128} * shape->nbrhd_most;
}

// Where there is something to gain: several neighborhoods, and one of several members. The rest as
// the algorithm scores itself, for the leaders.
template <uint32_t Index>
int32_t score(const cwyl_shape* shape) {
  if (shape->nbrhd_count < 2 || shape->nbrhd_most < 2 || !has_room(shape)) return -1;
  const bool knomial = strcmp(base::catalogue[Index].name, "knomial") == 0;
  if (shape->nbrhd_count > (knomial ? kMostKnomialLeaders : kMostLeaders)) return -1;
  cwyl_shape leaders = *shape;
  leaders.team_size = shape->nbrhd_count;
  leaders.nbrhd_most = 1;
  const int32_t of_leaders = base::catalogue[Index].score(&leaders);
  return of_leaders < 0 ? -1 : 20 + of_leaders;
}

// One neighborhood of several domains. Among few members, and for what is long, one step should be
// faster: `flat` and `shared`. Neither border is measured: this was written on machines of one
// domain. They follow from counting lines that cross between domains, and `causeway tune` finds
// others where they are wrong.
int32_t score_domains(const cwyl_shape* shape) {
  if (shape->nbrhd_count != 1 || shape->domain_count < 2 || shape->domain_most < 2) return -1;
  if (!has_room(shape)) return -1;
  return shape->team_size > 8 && shape->bytes < 8 << 10 ? 35 : 4;
}

// Neighborhoods and domains need not be stretches of ranks: what they combine is in no order.
cwyl_candidate candidate(const char* name, uint32_t operation, uint32_t least,
                         int32_t (*value)(const cwyl_shape*), base::Step run) {
  const bool reduction = operation == CWYL_REDUCE_ONE || operation == CWYL_REDUCE_ALL;
  return {CWY_HEAD(cwyl_candidate), name,       operation, reduction ? 0u : 1u,
          /*min_bytes=*/0,          UINT64_MAX, least,     base::kMostMembers,
          sizeof(TwoLevel),
          /*reserved=*/0,           value,      run,       run};
}

template <uint32_t... Index>
void fill(cwyl_candidate* out, std::integer_sequence<uint32_t, Index...>) {
  static char names[base::kAlgorithms][40];
  static uint32_t with_domains;  // operations that have theirs
  const auto one = [&](uint32_t i, int32_t (*value)(const cwyl_shape*), base::Step run) {
    const base::Algorithm& a = base::catalogue[i];
    snprintf(names[i], sizeof names[i], "leaders_%s", a.name);
    out[i] = candidate(names[i], a.operation, 3, value, run);
    // Across is a team of one then, so any algorithm of the operation will do.
    if ((with_domains >> a.operation & 1) != 0) return;
    with_domains |= 1u << a.operation;
    out[base::kAlgorithms + a.operation] = candidate("domains", a.operation, 3, score_domains, run);
  };
  with_domains = 0;
  (one(Index, score<Index>, step<Index>), ...);
}

}  // namespace

void list_two_level(cwyl_candidate* out) {
  fill(out, std::make_integer_sequence<uint32_t, base::kAlgorithms>());
}

}  // namespace hier
