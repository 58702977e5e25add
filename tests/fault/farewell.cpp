// A library whose end is a trouble to the process, as that of a network can be.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

// A thread is where the end of this library must not come.
extern "C" {
__attribute__((visibility("default"))) std::atomic<bool> in_use{false};
}

namespace {

bool aborts = false, hangs = false, naps = false;

__attribute__((destructor)) void end() {
  if (in_use.load()) ::_exit(7);
  if (aborts) std::abort();
  while (hangs) ::pause();
  if (naps) ::usleep(300000);
}

}  // namespace

// The status for the process to leave with.
extern "C" __attribute__((visibility("default"))) int end_by(const char* way) {
  aborts = std::strcmp(way, "abort") == 0;
  hangs = std::strcmp(way, "hang") == 0;
  naps = std::strcmp(way, "nap") == 0;
  return 9;
}
