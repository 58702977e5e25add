#include "workers.h"

#include <unistd.h>

#include <algorithm>

namespace heat {
namespace {

std::vector<gaspi_state_t> states_of(gaspi_rank_t all) {
  std::vector<gaspi_state_t> states(all);
  gaspi_state_vector_t vector = states.data();
  gaspi_state_vec_get(vector);
  return states;
}

gaspi_number_t incarnation_of(gaspi_rank_t rank) {
  gaspi_number_t number = 0;
  gaspi_proc_incarnation(rank, &number);
  return number;
}

constexpr useconds_t kLookAgain = 1000;      // microseconds
constexpr gaspi_timeout_t kAgreeFor = 1000;  // ms; then everybody looks again who is there

}  // namespace

Workers::Workers(bool shrink) : shrink_(shrink) {
  gaspi_proc_rank(&own_);
  gaspi_proc_num(&all_);
  replacement_ = incarnation_of(own_) > 1;
  for (gaspi_rank_t r = 0; r < all_; ++r) ranks_.push_back(r);
  remember();
}

void Workers::remember() {
  incarnations_.clear();
  for (gaspi_rank_t r = 0; r < all_; ++r) incarnations_.push_back(incarnation_of(r));
}

unsigned Workers::index() const {
  return static_cast<unsigned>(std::find(ranks_.begin(), ranks_.end(), own_) - ranks_.begin());
}

bool Workers::complete() const {
  const std::vector<gaspi_state_t> states = states_of(all_);
  return std::all_of(ranks_.begin(), ranks_.end(), [&](gaspi_rank_t r) {
    return states[r] == GASPI_STATE_HEALTHY && incarnation_of(r) == incarnations_[r];
  });
}

gaspi_return_t Workers::barrier() const {
  return patiently([this](gaspi_timeout_t t) { return gaspi_barrier(group_, t); });
}

gaspi_return_t Workers::highest(unsigned* value) const {
  const unsigned own = *value;
  return patiently([&](gaspi_timeout_t t) {
    return gaspi_allreduce(&own, value, 1, GASPI_OP_MAX, GASPI_TYPE_UINT, group_, t);
  });
}

void Workers::give_up() {
  gaspi_number_t queues = 0;
  gaspi_queue_num(&queues);
  for (gaspi_number_t q = 0; q < queues; ++q)
    gaspi_queue_purge(static_cast<gaspi_queue_id_t>(q), GASPI_BLOCK);
}

// A rank that is lost comes back as another process.
void Workers::wait_for_spares() const {
  for (;;) {
    const std::vector<gaspi_state_t> states = states_of(all_);
    if (std::count(states.begin(), states.end(), GASPI_STATE_CORRUPT) == 0) return;
    ::usleep(kLookAgain);
  }
}

gaspi_return_t Workers::commit_all() {
  wait_for_spares();
  return gaspi_group_commit(GASPI_GROUP_ALL, kAgreeFor);
}

// Survivors may notice at different times: then no group comes of it, and all look again.
gaspi_return_t Workers::commit_survivors(std::vector<gaspi_rank_t>& ranks) {
  const std::vector<gaspi_state_t> states = states_of(all_);
  std::erase_if(ranks, [&](gaspi_rank_t r) { return states[r] == GASPI_STATE_CORRUPT; });
  gaspi_group_t group = 0;
  if (gaspi_group_create(&group) != GASPI_SUCCESS) return GASPI_ERROR;
  for (const gaspi_rank_t r : ranks) gaspi_group_add(group, r);
  const gaspi_return_t result = gaspi_group_commit(group, kAgreeFor);
  if (result != GASPI_SUCCESS) {
    gaspi_group_delete(group);
    return result;
  }
  if (group_ != GASPI_GROUP_ALL) gaspi_group_delete(group_);
  group_ = group;
  return result;
}

void Workers::regroup() {
  std::vector<gaspi_rank_t> next = ranks_;
  while ((shrink_ ? commit_survivors(next) : commit_all()) != GASPI_SUCCESS) ::usleep(kLookAgain);
  ranks_ = next;
  remember();
}

Workers::Change Workers::change_since(const std::vector<gaspi_rank_t>& before, bool fresh) const {
  std::vector<int> has_nothing(all_), anybody(all_);
  has_nothing[own_] = fresh ? 1 : 0;
  for (const gaspi_rank_t r : before)
    if (std::find(ranks_.begin(), ranks_.end(), r) == ranks_.end()) has_nothing[r] = 1;
  Change change{before, {}};
  const gaspi_return_t told = patiently([&](gaspi_timeout_t t) {
    return gaspi_allreduce(has_nothing.data(), anybody.data(), all_, GASPI_OP_MAX, GASPI_TYPE_INT,
                           group_, t);
  });
  if (told != GASPI_SUCCESS) return change;
  for (const gaspi_rank_t r : before) change.kept.push_back(anybody[r] == 0);
  return change;
}

bool Workers::dies_at(const Options& options, unsigned iteration) const {
  long rank = options.die_rank, when = options.die_iteration;
  if (options.drawn) {
    unsigned long x = options.seed * 6364136223846793005ul + 1442695040888963407ul;
    rank = static_cast<long>((x >> 33) % all_);
    x = x * 6364136223846793005ul + 1442695040888963407ul;
    when = static_cast<long>((x >> 33) % options.iterations);
  }
  return !replacement_ && rank == own_ && when == static_cast<long>(iteration);
}

}  // namespace heat
