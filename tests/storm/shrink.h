// From a run that failed to a short one that fails: fewer families, then fewer steps.
#pragma once

#include "trial.h"

namespace storm {

struct Shrunk {
  Job job;                          // the shortest that failed
  Verdict verdict;                  // of it
  unsigned runs = 0, failures = 0;  // of the last length
};

// Races come and go, so each candidate has several tries. At most about `limit_s`.
Shrunk shrink(const Job& job, const Verdict& verdict, double limit_s);

}  // namespace storm
