#include "end_plan.h"

#include "random.h"

namespace storm {

EndPlan end_of(const Options& options, uint32_t ranks) {
  EndPlan plan;
  if (!options.has(Family::ends)) return plan;
  Random random(mix(options.seed, 17));
  plan.end = random.one_of({End::exit, End::exit, End::exit, End::back, End::both, End::code,
                            End::returned, End::killed});
  plan.rank = static_cast<uint32_t>(random.below(ranks));
  if (plan.end == End::code || plan.end == End::returned)
    plan.status = static_cast<int>(random.within(5, 120));
  if (plan.end == End::killed) plan.status = 128 + 9;
  return plan;
}

const char* name_of(End end) {
  switch (end) {
    case End::exit:
      return "every rank exits with 0";
    case End::back:
      return "every rank returns 0 from main";
    case End::both:
      return "some ranks exit with 0, some return";
    case End::code:
      return "one rank exits with a code";
    case End::returned:
      return "one rank returns a code from main";
    default:
      return "one rank is killed";
  }
}

std::string words_of(uint32_t rank) {
  return "last words of rank " + std::to_string(rank);
}

}  // namespace storm
