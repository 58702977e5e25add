// The algorithms: each writes the schedule of this member.
#pragma once

#include "schedule.h"

namespace base {

// trees.cpp
void barrier_tree(const Run& run);
void barrier_up(const Run& run);    // to the root
void barrier_down(const Run& run);  // from the root
void broadcast_binomial(const Run& run);
void broadcast_knomial(const Run& run);
void reduce_one_binomial(const Run& run);
void reduce_all_by_trees(const Run& run);
// chains.cpp
void broadcast_chain(const Run& run);
void broadcast_scatter_allgather(const Run& run);
void reduce_one_chain(const Run& run);
void reduce_all_ring(const Run& run);
// hypercube.cpp
void reduce_all_doubling(const Run& run);
void reduce_all_rabenseifner(const Run& run);
void reduce_one_rabenseifner(const Run& run);

// ceil(log2 n).
constexpr uint32_t log2_up(uint32_t n) {
  uint32_t k = 0;
  while (k < 32 && (uint64_t{1} << k) < n) ++k;
  return k;
}
inline uint64_t total_bytes(const Run& run) {
  return run.args->element_bytes * run.args->count;
}
// A source that is the destination already is not copied.
inline void keep_own(const Run& run) {
  if (run.args->dst != run.args->src) copy(run, run.args->dst, run.args->src, total_bytes(run));
}
inline bool ordered(const Run& run) {
  return (run.args->flags & CWYL_NEED_ORDER) != 0;
}

// n elements cut into `parts` nearly equal stretches: where part i begins, in bytes.
struct Parts {
  uint64_t count, element;
  uint32_t parts;
  uint64_t at(uint32_t i) const {
    const uint64_t each = count / parts, more = count % parts;
    return (each * i + (i < more ? i : more)) * element;
  }
  uint64_t bytes(uint32_t i) const { return at(i + 1) - at(i); }
};

}  // namespace base
