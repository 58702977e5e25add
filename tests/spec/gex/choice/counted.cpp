// A client of the collectives that prints which algorithms ran, for the tests of their choice.
#include <causeway/report.h>
#include <gasnet_coll.h>

#include <cstdio>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  if (gex_Client_Init(&client, &ep, &tm, "COUNTED", &argc, &argv, 0) != GASNET_OK) return 3;
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  std::vector<double> src(4096), dst(4096);
  bool good = true;
  for (const size_t count : {1ul, 4096ul}) {
    for (size_t i = 0; i < count; ++i) src[i] = rank + 1.0;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, dst.data(), src.data(), GEX_DT_DBL, 8, count,
                                          GEX_OP_ADD, nullptr, nullptr, 0));
    for (size_t i = 0; i < count; ++i) good = good && dst[i] == size * (size + 1) / 2.0;
    gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, dst.data(), src.data(), count * 8, 0));
    for (size_t i = 0; i < count; ++i) good = good && dst[i] == 1.0;
  }
  if (!good) fprintf(stderr, "rank %u: wrong results\n", rank);
  if (rank == 0) {
    cwy_report_v1(
        [](void*, const char* line) {
          if (strncmp(line, "collectives:", 12) == 0) puts(line);
        },
        nullptr);
    fflush(stdout);
  }
  if (!good) gasnet_exit(1);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));  // before it nobody may end the job well
  gasnet_exit(0);
}
