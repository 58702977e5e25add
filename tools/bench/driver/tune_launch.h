// A launch of the measuring program for `causeway tune`: one collective at several sizes, under one
// configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuning.h"

namespace causeway::bench {

// The job that is tuned for.
struct TunedJob {
  std::string tool, program;  // the causeway command and causeway-bench
  uint32_t ranks;
  std::string config;  // file; empty: none
  std::vector<std::string> sets;
};

struct TuneResult {
  int status = 0;
  std::string locality;  // empty: not told
  // `asked` is left empty: the caller knows.
  std::vector<Timing> timings;
};

// `rules`: what collectives.rules is set to, as YAML in one line; empty: left as it is. Sizes are
// those of a barrier (none) where the operation is one. `patience_s`: the launch ends after it.
TuneResult launch_tune(const TunedJob& job, const std::string& rules, const std::string& operation,
                       const std::vector<uint64_t>& sizes, double row_ns, double patience_s);

}  // namespace causeway::bench
