#include "last_words.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "end_plan.h"
#include "world.h"

namespace storm {
namespace {

void say(const std::string& folder) {
  const std::string words = words_of(world().rank);
  if (!folder.empty()) {
    const std::string path = folder + "/" + std::to_string(world().rank);
    FILE* const file = std::fopen(path.c_str(), "w");
    if (!file || std::fputs(words.c_str(), file) < 0 || std::fclose(file) != 0) std::abort();
  }
  std::printf("%s\n", words.c_str());
  std::fflush(stdout);
}

}  // namespace

int leave(const Options& options, const std::string& folder) {
  const EndPlan plan = end_of(options, world().size);
  Random whim(mix(mix(options.seed, 19), world().rank));
  const auto late = static_cast<unsigned>(whim.below(20));  // milliseconds
  switch (whim.below(4)) {
    case 0:
      usleep(late * 1000);
      break;
    case 1:  // still has something to do, and serves others meanwhile
      for (unsigned i = 0; i < 10 * late; ++i) {
        gasnet_AMPoll();
        usleep(100);
      }
      break;
    default:
      break;
  }
  if (world().rank == 0) std::printf("done\n");
  if (!plan.orderly() && world().rank != plan.rank) {
    for (;;) {  // computes and polls until it is ended
      gasnet_AMPoll();
      usleep(100);
    }
  }
  say(folder);
  switch (plan.end) {
    case End::back:
      return 0;
    case End::both:
      if (whim.chance(50)) return 0;
      break;
    case End::returned:
      return plan.status;
    case End::killed:
      raise(SIGKILL);
      break;
    default:
      break;
  }
  gasnet_exit(plan.status);
}

}  // namespace storm
