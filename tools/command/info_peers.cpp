// causeway info --peers, as the program of a job: what the other ranks cost rank 0 in memory, once
// it has heard from each of them.
#include <gasnetex.h>

#include <atomic>
#include <cstdio>

#include "base/error.h"
#include "info_peers.h"
#include "object/connect.h"
#include "process/report.h"
#include "text.h"
#include "world.h"

namespace causeway::command {
namespace {

constexpr gex_AM_Index_t kHandler = GEX_AM_INDEX_BASE;
std::atomic<uint32_t> answers{0};  // relaxed: counted and read where nothing else is handed over

void answer(gex_Token_t token, gex_AM_Arg_t asked) {
  if (asked == 0)
    answers.fetch_add(1, std::memory_order_relaxed);
  else
    gex_AM_ReplyShort1(token, kHandler, 0, 0);
}

void barrier(gex_TM_t team) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

void hear_from_everybody(gex_TM_t team) {
  const gex_Rank_t ranks = gex_TM_QuerySize(team);
  for (gex_Rank_t r = 1; r < ranks; ++r) gex_AM_RequestShort1(team, r, kHandler, 0, 1);
  GASNET_BLOCKUNTIL(answers.load(std::memory_order_relaxed) == ranks - 1);
}

void print(bool json) {
  if (!json) {
    fmt::print("{}\n", footprint_text());
    return;
  }
  const std::string connections = json_each(connection_costs(), [](const ConnectionCost& c) {
    return fmt::format(R"({{"conduit":{},"connections":{},"bytes":{},"shared":{}}})",
                       json_text(c.conduit), c.count, c.bytes, c.shared);
  });
  fmt::print(R"({{"uncontacted":{},"connections":{}}})"
             "\n",
             bytes_of_uncontacted_peer(), connections);
}

}  // namespace

int info_peers(bool json) {
  if (!in_a_job()) {
    fmt::print(stderr,
               "causeway info --peers is the program of a job: causeway run -n 4 causeway info "
               "--peers\n");
    return kUsage;
  }
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  int argc = 0;
  char** argv = nullptr;
  if (gex_Client_Init(&client, &ep, &team, "CAUSEWAY_INFO", &argc, &argv, 0) != GASNET_OK)
    return kFailed;
  constexpr gex_Flags_t kBoth = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP;
  const auto function = reinterpret_cast<gex_AM_Fn_t>(answer);
  gex_AM_Entry_t entries[] = {{kHandler, function, kBoth, 1, nullptr, "answer"}};
  gex_EP_RegisterHandlers(ep, entries, 1);
  count_connections();
  barrier(team);
  if (gex_TM_QueryRank(team) == 0) {
    hear_from_everybody(team);
    print(json);
    std::fflush(stdout);
  }
  barrier(team);
  gasnet_exit(kOk);
}

}  // namespace causeway::command
