// The script: which step does what, as a pure function of the seed. All ranks write the same one,
// so that each knows what the others do and what every byte has to be.
#pragma once

#include <cstdint>

#include "options.h"
#include "random.h"

namespace storm {

inline constexpr unsigned kThreads = 2;
// A thread of a rank: everybody who acts by himself.
struct Actor {
  uint32_t rank = 0;
  uint32_t thread = 0;
  uint8_t number() const { return static_cast<uint8_t>(rank * kThreads + thread); }
};

struct Step {
  uint32_t index = 0;
  Family family = Family::coll;
  uint64_t key = 0;

  // The choices of all ranks alike, and those of a single actor.
  Random common() const { return Random(mix(key, 1)); }
  Random of(Actor actor) const { return Random(mix(key, uint64_t{100} + actor.number())); }
  // For what has no influence on contents: orders of waiting, delays.
  Random whim(Actor actor) const { return Random(mix(key, uint64_t{10000} + actor.number())); }
};

// So many steps lie between two audits, in which everything is completed and all memory compared.
inline constexpr uint32_t kEpoch = 32;

class Script {
 public:
  Script(const Options& options, uint32_t ranks);
  Step step(uint32_t index) const;
  uint32_t steps() const { return options_.steps; }

  // Whether a second thread acts in this epoch.
  bool threaded(uint32_t epoch) const;
  // Whether everybody completes each step before the next: what is begun alone goes other ways.
  bool one_at_a_time(uint32_t epoch) const;
  // How long, in microseconds, this actor computes before the step and calls nothing.
  uint32_t delay(const Step& step, Actor actor) const;

 private:
  Options options_;
  uint32_t ranks_;
  uint32_t weights_[kFamilies] = {};
  uint32_t total_ = 0;
};

}  // namespace storm
