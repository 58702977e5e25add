#include "last_words.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

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

// Polls until somebody ends the process.
[[noreturn]] void linger() {
  for (;;) {
    gasnet_AMPoll();
    usleep(100);
  }
}

// Here, or by a second thread while this one lingers.
template <class Act>
[[noreturn]] void by(bool second_thread, Act act) {
  if (!second_thread) act();
  std::thread(act).detach();
  linger();
}

[[noreturn]] void take(int signal) {
  // The handler that tells of crashes is for those that nobody planned.
  if (signal != SIGTERM) std::signal(signal, SIG_DFL);
  raise(signal);
  linger();
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
  if (!plan.orderly() && world().rank != plan.rank) linger();
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
      by(plan.from_thread, [&] { take(plan.signal); });
    default:
      break;
  }
  by(plan.from_thread, [&] { gasnet_exit(plan.status); });
}

}  // namespace storm
