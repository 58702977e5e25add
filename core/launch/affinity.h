// Where the ranks of a host run: `causeway run --bind --map`.
#pragma once

#include <string>
#include <vector>

#include "spawn/rank_process.h"

namespace causeway::launch {

// The wishes of `--bind`, `--map` and `--display`. `to`: core, numa or nothing.
struct Binding {
  std::string to;
  bool display = false;
  bool numa_in_turn = false;  // consecutive processes on different NUMA nodes, not on one
};

// Binds the processes, which have not begun yet, in their order: to shares of the cores that this
// process may use, or each to a NUMA node; several to one where there are more of them. Returns for
// each the processors that it may use, as a list of numbers. Throws Error.
std::vector<std::string> bind_processes(const std::vector<RankProcess>& processes,
                                        const Binding& binding);

}  // namespace causeway::launch
