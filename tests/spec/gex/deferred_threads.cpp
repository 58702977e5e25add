// A client that starts the progress threads itself: GEX_FLAG_DEFER_THREADS. Its own program,
// because the flag belongs to gex_Client_Init. Run with and without `threads.progress: thread`;
// the argument says how many threads are to be expected.
#include <gasnetex.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "small_client.h"

using spec::me;
using spec::require;

namespace {

std::atomic<unsigned> handled{0};
void on_request(gex_Token_t) {
  handled.fetch_add(1, std::memory_order_release);
}

// Without entering the library.
bool compute_until(unsigned count) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (handled.load(std::memory_order_acquire) != count) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  require(gex_Client_Init(&client, &ep, &tm, "DEFER", &argc, &argv, GEX_FLAG_DEFER_THREADS) ==
              GASNET_OK,
          "gex_Client_Init");
  me = gex_TM_QueryRank(tm);
  const gex_Rank_t peer = (me + 1) % gex_TM_QuerySize(tm);
  const unsigned expected = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 0;
  const bool by_exit = argc > 2 && std::strcmp(argv[2], "exit") == 0;
  require(gex_Client_QueryFlags(client) == GEX_FLAG_DEFER_THREADS, "flags of the client");
  // What will be once the threads run.
  require(gex_System_QueryHiddenAMConcurrencyLevel() == static_cast<int>(expected), "level");
  gex_AM_Entry_t entry{200,
                       reinterpret_cast<gex_AM_Fn_t>(&on_request),
                       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                       0,
                       nullptr,
                       "request"};
  require(gex_EP_RegisterHandlers(ep, &entry, 1) == GASNET_OK, "handlers");

  // No restriction before the threads are started: collectives and messages.
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gex_AM_RequestShort0(tm, peer, 200, 0);
  GASNET_BLOCKUNTIL(handled.load(std::memory_order_acquire) == 1);

  unsigned count = 99;
  const gex_ProgressThreadInfo_t* info = nullptr;
  gex_System_SetVerboseErrors(0);
  require(gex_System_QueryProgressThreads(client, nullptr, &info, 0) == GASNET_ERR_BAD_ARG,
          "NULL count_p");
  require(gex_System_QueryProgressThreads(client, &count, nullptr, 0) == GASNET_ERR_BAD_ARG,
          "NULL info_p");
  require(gex_System_QueryProgressThreads(client, &count, &info, gex_Flags_t{1} << 31) ==
              GASNET_ERR_BAD_ARG,
          "flags of the query");
  gex_System_SetVerboseErrors(1);
  require(gex_System_QueryProgressThreads(client, &count, &info, 0) == GASNET_OK, "the query");
  require(count == expected, "number of threads");
  for (unsigned i = 0; i < count; ++i) {
    require(info[i].gex_device_list != nullptr && info[i].gex_device_list[0] != '\0', "devices");
    require(info[i].gex_thread_roles == (GEX_THREAD_ROLE_RCV | GEX_THREAD_ROLE_SND), "roles");
    pthread_t thread;
    require(
        pthread_create(&thread, nullptr, info[i].gex_progress_fn, info[i].gex_progress_arg) == 0,
        "pthread_create");
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (count != 0) {
    for (unsigned i = 0; i < 20; ++i) gex_AM_RequestShort0(tm, peer, 200, 0);
    require(compute_until(21), "nothing was received while this rank computed");
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (me == 0) std::printf("deferred threads: %u\n", count);
  std::fflush(stdout);
  if (by_exit) std::exit(0);  // the library must not be surprised by its own thread
  gasnet_exit(0);
}
