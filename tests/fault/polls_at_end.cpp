// A program with threads of its own that poll and wait for as long as the process lives: its main
// returns, or calls exit(), while they do. Libraries take a while to end.
// Usage: polls_at_end LIBRARY return|exit
//
// Catches: a poll that walks over what ended with the library, which is a SIGSEGV in place of the
// program's status.
#include <dlfcn.h>
#include <gasnetex.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

std::atomic<bool> never{false};

void poll() {
  for (;;) gasnet_AMPoll();
}
void wait() {
  GASNET_BLOCKUNTIL(never.load(std::memory_order_relaxed));
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  if (argc != 3 ||
      gex_Client_Init(&client, &ep, &tm, "POLLS_AT_END", &argc, &argv, 0) != GASNET_OK) {
    return 1;
  }
  void* const library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  auto* const end_by = library == nullptr
                           ? nullptr
                           : reinterpret_cast<int (*)(const char*)>(::dlsym(library, "end_by"));
  if (end_by == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 1;
  }
  end_by("nap");
  for (int i = 0; i < 2; ++i) {
    std::thread(poll).detach();
    std::thread(wait).detach();
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (std::strcmp(argv[2], "exit") == 0) std::exit(0);
  return 0;
}
