// Workers: the processes that compute together, and how they come together again after a failure.
#pragma once

#include <GASPI.h>

#include <vector>

#include "options.h"

namespace heat {

class Workers {
 public:
  // After gaspi_proc_init.
  explicit Workers(bool shrink);

  unsigned index() const;
  unsigned count() const { return static_cast<unsigned>(ranks_.size()); }
  gaspi_rank_t rank_of(unsigned index) const { return ranks_[index]; }
  const std::vector<gaspi_rank_t>& ranks() const { return ranks_; }

  // Waits for others, in portions: GASPI_ERROR as soon as one of them is lost or replaced.
  template <typename Call>
  gaspi_return_t patiently(Call&& call) const {
    constexpr gaspi_timeout_t kPortion = 50;  // ms
    for (;;) {
      const gaspi_return_t result = call(kPortion);
      if (result != GASPI_TIMEOUT) return result;
      if (!complete()) return GASPI_ERROR;
    }
  }
  gaspi_return_t barrier() const;
  // The highest of all workers' values.
  gaspi_return_t highest(unsigned* value) const;

  // Empties the queues of what was under way.
  void give_up();
  // Waits until the group of those who go on is committed: all ranks, with replacements, or the
  // survivors.
  void regroup();

  // The workers that wrote a checkpoint, in the order of rows, and whether their memory has it
  // still.
  struct Change {
    std::vector<gaspi_rank_t> before;
    std::vector<bool> kept;  // empty: another process failed meanwhile
  };
  // Collective. `fresh`: this process has written none.
  Change change_since(const std::vector<gaspi_rank_t>& before, bool fresh) const;

  bool dies_at(const Options& options, unsigned iteration) const;

 private:
  bool complete() const;
  void wait_for_spares() const;
  gaspi_return_t commit_all();
  gaspi_return_t commit_survivors(std::vector<gaspi_rank_t>& ranks);
  void remember();

  gaspi_rank_t own_ = 0, all_ = 0;
  bool replacement_ = false, shrink_ = false;
  gaspi_group_t group_ = GASPI_GROUP_ALL;
  std::vector<gaspi_rank_t> ranks_;
  std::vector<gaspi_number_t> incarnations_;  // by rank
};

}  // namespace heat
