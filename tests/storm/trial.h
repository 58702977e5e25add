// A job of the storm, run to its end, and what was wrong with it.
#pragma once

#include <string>

#include "configurations.h"

namespace storm {

struct Verdict {
  bool good = false;
  std::string reason;  // one line
  uint32_t step = 0;   // where a rank says that it failed
  bool named = false;  // whether one says so
  std::string output;
  double seconds = 0;
};

Verdict run_trial(const Job& job);

}  // namespace storm
