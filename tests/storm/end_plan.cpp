#include "end_plan.h"

#include <signal.h>

#include "random.h"

namespace storm {

EndPlan end_of(const Options& options, uint32_t ranks) {
  EndPlan plan;
  if (!options.has(Family::ends)) return plan;
  Random random(mix(options.seed, 17));
  plan.end = random.one_of({End::exit, End::exit, End::exit, End::back, End::both, End::code,
                            End::returned, End::killed, End::killed});
  plan.rank = static_cast<uint32_t>(random.below(ranks));
  const bool calls = plan.end != End::back && plan.end != End::returned;
  plan.from_thread = calls && random.chance(30);
  if (plan.end == End::code || plan.end == End::returned)
    plan.status = static_cast<int>(random.within(5, 120));
  if (plan.end == End::killed) {
    plan.signal = random.one_of({SIGKILL, SIGKILL, SIGTERM, SIGABRT, SIGSEGV});
    plan.status = 128 + plan.signal;
  }
  return plan;
}

std::string describe(const EndPlan& plan) {
  const char* const who = plan.from_thread ? " (from a second thread)" : "";
  switch (plan.end) {
    case End::exit:
      return std::string("every rank exits with 0") + who;
    case End::back:
      return "every rank returns 0 from main";
    case End::both:
      return std::string("some ranks exit with 0, some return") + who;
    case End::code:
      return "rank " + std::to_string(plan.rank) + " exits with a code" + who;
    case End::returned:
      return "rank " + std::to_string(plan.rank) + " returns a code from main";
    default:
      return "rank " + std::to_string(plan.rank) + " takes signal " + std::to_string(plan.signal) +
             who;
  }
}

std::string words_of(uint32_t rank) {
  return "last words of rank " + std::to_string(rank);
}

}  // namespace storm
