// causeway tune --compare: the rules of a file beside the configuration without them.
#pragma once

#include <string>
#include <vector>

#include "bench/driver/tune_launch.h"

namespace causeway::command {

struct Comparison {
  std::string file;  // whose collectives.rules are measured
  bench::TunedJob job;
  std::vector<std::string> operations;
  std::vector<uint64_t> sizes;
  double budget_s;
  double noise;  // 0.1: by a tenth
};

// Prints a row per collective and size. kFailed where the rules choose an algorithm that is slower
// than the default's by more than the noise, or a job fails. Throws Error.
int compare_rules(const Comparison& comparison);

}  // namespace causeway::command
