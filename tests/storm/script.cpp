#include "script.h"

namespace storm {
namespace {

// How often a family comes, where it is asked for; 0: it is no kind of step.
constexpr uint32_t kWeights[kFamilies] = {
    /*coll*/ 30,    /*rma*/ 16,    /*am*/ 16,     /*vis*/ 10,    /*notice*/ 0,
    /*team*/ 8,     /*segment*/ 4, /*device*/ 8,  /*threads*/ 0, /*ends*/ 0,
    /*atomics*/ 12, /*gaspi*/ 12,  /*legacy*/ 10, /*clients*/ 8};

}  // namespace

// Each run leans towards some families: mixtures of few show what even mixtures hide.
Script::Script(const Options& options, uint32_t ranks) : options_(options), ranks_(ranks) {
  Random random(mix(options.seed, 7));
  for (unsigned i = 0; i < kFamilies; ++i) {
    const uint32_t lean = static_cast<uint32_t>(random.one_of({1, 2, 2, 2, 6}));
    if ((options.ops >> i & 1) != 0) weights_[i] = kWeights[i] * lean;
    total_ += weights_[i];
  }
}

Step Script::step(uint32_t index) const {
  Step step{index, Family::coll, mix(options_.seed, 1000 + uint64_t{index})};
  if (total_ == 0) return step;
  auto at = static_cast<uint32_t>(mix(step.key, 3) % total_);
  unsigned family = 0;
  while (at >= weights_[family]) at -= weights_[family++];
  step.family = static_cast<Family>(family);
  return step;
}

bool Script::threaded(uint32_t epoch) const {
  return options_.has(Family::threads) && mix(mix(options_.seed, 11), epoch) % 2 == 0;
}

bool Script::one_at_a_time(uint32_t epoch) const {
  return mix(mix(options_.seed, 23), epoch) % 4 == 0;
}

// In each epoch a single rank is late. The others go ahead of it as far as they can, which is
// what finds memory that is used again before it was read. The rest is seldom and slightly late.
uint32_t Script::delay(const Step& step, Actor actor) const {
  const uint64_t epoch = mix(mix(options_.seed, 13), step.index / kEpoch);
  Random whim(mix(step.key, uint64_t{20000} + actor.number()));
  const bool late = epoch % (ranks_ + 1) == actor.rank;
  if (late && whim.chance(12)) return static_cast<uint32_t>(whim.within(500, 8000));
  if (late && whim.chance(25)) return static_cast<uint32_t>(whim.below(500));
  return whim.chance(4) ? static_cast<uint32_t>(whim.below(200)) : 0;
}

}  // namespace storm
