// A program with threads of its own that poll and wait for as long as the process lives: its main
// returns, or calls exit(), while they do. Libraries take a while to end.
// Usage: polls_at_end LIBRARY return|exit|handler
// With `handler` one of those polls is in a handler of messages, which takes a while.
//
// Catches: a poll that walks over what ended with the library, which is a SIGSEGV in place of the
// program's status; libraries that end while a poll is under way.
#include <dlfcn.h>
#include <gasnetex.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

std::atomic<bool> never{false}, handling{false};
std::atomic<bool>* in_use = nullptr;  // of the library

void take_a_while(gex_Token_t) {
  in_use->store(true);
  handling.store(true);
  ::usleep(100'000);
  in_use->store(false);
}

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
  in_use = reinterpret_cast<std::atomic<bool>*>(::dlsym(library, "in_use"));
  gex_AM_Entry_t entries[] = {{GEX_AM_INDEX_BASE, reinterpret_cast<gex_AM_Fn_t>(take_a_while),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr,
                               "take_a_while"}};
  if (in_use == nullptr || gex_EP_RegisterHandlers(ep, entries, 1) != GASNET_OK) return 1;
  for (int i = 0; i < 2; ++i) {
    std::thread(poll).detach();
    std::thread(wait).detach();
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (std::strcmp(argv[2], "handler") == 0) {
    gex_AM_RequestShort0(tm, gex_TM_QueryRank(tm) ^ 1, entries[0].gex_index, 0);
    while (!handling.load()) ::usleep(100);  // in a poll of another thread's
  }
  if (std::strcmp(argv[2], "exit") == 0) std::exit(0);
  return 0;
}
