#include "shrink.h"

#include <algorithm>
#include <chrono>

#include "options.h"

namespace storm {
namespace {

constexpr unsigned kTries = 5;

class Shrinker {
 public:
  Shrinker(const Job& job, const Verdict& verdict, double limit_s)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s))) {
    best_.job = job;
    best_.verdict = verdict;
    best_.runs = best_.failures = 1;
  }

  Shrunk go() {
    fewer_steps();
    for (unsigned family = 0; family < kFamilies; ++family) {
      Job candidate = best_.job;
      candidate.ops &= ~(1u << family);
      if (candidate.ops == best_.job.ops || candidate.ops == 0) continue;
      // Other families make another script: it may fail somewhere else.
      candidate.steps = std::max(candidate.steps * 2, kLeast);
      if (fails(candidate)) fewer_steps();
    }
    return best_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint32_t kLeast = 16;

  void fewer_steps() {
    // The words of the rank are a good guess: what fails at a step needs no later one.
    const Verdict& said = best_.verdict;
    if (said.named && said.step + 1 < best_.job.steps) fails(with_steps(said.step + 1));
    uint32_t passed = 0;
    while (passed + 1 < best_.job.steps && Clock::now() < end_) {
      const uint32_t middle = passed + (best_.job.steps - passed) / 2;
      if (!fails(with_steps(middle))) passed = middle;
    }
  }
  Job with_steps(uint32_t steps) const {
    Job job = best_.job;
    job.steps = steps;
    return job;
  }
  bool fails(const Job& candidate) {
    for (unsigned i = 1; i <= kTries && Clock::now() < end_; ++i) {
      Verdict verdict = run_trial(candidate);
      if (verdict.good) continue;
      best_ = {candidate, std::move(verdict), i, 1};
      return true;
    }
    return false;
  }
  Clock::time_point end_;
  Shrunk best_;
};

}  // namespace

Shrunk shrink(const Job& job, const Verdict& verdict, double limit_s) {
  return Shrinker(job, verdict, limit_s).go();
}

}  // namespace storm
