// Rank 1 asks so many other ranks for an answer, and nobody else anybody, then says what ranks cost
// it: the library's own count, and what the process has from the heap. Rank 0 collects what ranks
// tell of themselves at the start, and is not like the others. Usage: contacts RANKS
#include <causeway/report.h>
#include <gasnetex.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr gex_AM_Index_t kHandler = GEX_AM_INDEX_BASE;
std::atomic<unsigned> answers{0};

void handler(gex_Token_t token, gex_AM_Arg_t ask) {
  if (ask != 0) {
    gex_AM_ReplyShort1(token, kHandler, 0, 0);
  } else {
    answers.fetch_add(1, std::memory_order_relaxed);  // of this thread
  }
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Client_Init(&client, &ep, &team, "CONTACTS", &argc, &argv, 0);
  gex_AM_Entry_t entry{};
  entry.gex_index = kHandler;
  entry.gex_fnptr = reinterpret_cast<gex_AM_Fn_t>(handler);
  entry.gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP;
  entry.gex_nargs = 1;
  gex_EP_RegisterHandlers(ep, &entry, 1);
  if (argc != 2) return 2;
  if (gex_TM_QueryRank(team) != 1) {
    GASNET_BLOCKUNTIL(false);  // rank 1's exit ends the job
  }
  cwy_report_v1([](void*, const char*) {}, nullptr);  // connections are counted from now on
  // A barrier would contact ranks; a message to one that has no handler yet would end it.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto asked = static_cast<unsigned>(strtoul(argv[1], nullptr, 10));
  for (gex_Rank_t r = 2; r < asked + 2; ++r) gex_AM_RequestShort1(team, r, kHandler, 0, 1);
  GASNET_BLOCKUNTIL(answers.load(std::memory_order_relaxed) == asked);
  const struct mallinfo2 heap = mallinfo2();
  printf("heap: %zu bytes\n", heap.uordblks + heap.hblkhd);
  cwy_report_v1(
      [](void*, const char* line) {
        if (strncmp(line, "memory: ", 8) == 0) puts(line);
      },
      nullptr);
  gasnet_exit(0);
}
