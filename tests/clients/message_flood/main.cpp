// Every measurement on every thread of every rank, one after the other.
#include <cstdio>
#include <thread>
#include <vector>

#include "flood.hpp"

namespace {

void on_all_threads(void (*measure)(int)) {
  std::vector<std::thread> others;
  for (int thread = 1; thread < flood::kThreads; ++thread) others.emplace_back(measure, thread);
  measure(0);
  for (std::thread& thread : others) thread.join();
  flood::barrier();
}

}  // namespace

int main(int argc, char** argv) {
  flood::start(&argc, &argv);
  flood::negotiated_load();
  flood::barrier();
  on_all_threads(flood::negotiated_ping_pong);
  on_all_threads(flood::negotiated_flood);
  on_all_threads(flood::events_windows);
  on_all_threads(flood::events_regions);
  on_all_threads(flood::events_leaves);
  flood::events_create();
  on_all_threads(flood::events_updates);
  flood::events_finish();
  std::printf("rank %u of %u: ok\n", static_cast<unsigned>(flood::me),
              static_cast<unsigned>(flood::ranks));
  std::fflush(stdout);
  gasnet_exit(0);
}
