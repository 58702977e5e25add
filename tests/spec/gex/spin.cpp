// A wait spins for `waiting.spin` by the clock, however long a look takes: the rank that is waited
// for may need the processor. Catches spinning that is only counted, as if each look took as long
// as one at memory: more than 800 looks of 50 us until the first yield.
#include <gasnetex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace {

volatile unsigned g_yields = 0;

using Clock = std::chrono::steady_clock;

// A look that takes long.
bool has_yielded(unsigned& looks) {
  ++looks;
  const auto end = Clock::now() + std::chrono::microseconds(50);
  while (Clock::now() < end) {
  }
  return g_yields != 0;
}

}  // namespace

// The library's calls come here: the program is looked at first.
extern "C" [[gnu::visibility("default")]] int sched_yield() noexcept {
  g_yields = g_yields + 1;
  return static_cast<int>(::syscall(SYS_sched_yield));
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Client_Init(&client, &ep, &tm, "SPIN", &argc, &argv, 0);
  g_yields = 0;
  unsigned looks = 0;
  GASNET_BLOCKUNTIL(has_yielded(looks));
  std::printf("%s: %u looks before the first yield\n", looks > 100 ? "FAILED" : "passed", looks);
  gasnet_exit(looks > 100 ? 1 : 0);
}
