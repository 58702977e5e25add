// The figures of `causeway bench --one-sided`: what mpi/one_sided.c measures over an MPI or
// OpenSHMEM library, in the same way. The fastest repetition counts, as there.
#include <gasnet_ratomic.h>

#include <functional>

#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

constexpr double kRowNs = 200e6;  // no more repetitions of a row after this time

void measure_row(Session& session, const char* name, uint32_t at_once,
                 const std::function<void()>& once) {
  Job& job = session.job();
  if (!job.is_first()) {
    job.sync();  // makes progress meanwhile
    return;
  }
  const double begun = now_ns();
  double each_call = elapsed_ns(once);
  if (each_call < session.aim_ns()) each_call = each_ns(4, once);
  const uint64_t turns = turns_for(session.aim_ns(), each_call, 1 << 14);
  double fastest = 0;
  for (unsigned i = 0; i < session.repetitions(); ++i) {
    const double each = each_ns(turns, once) / at_once;
    if (i == 0 || each < fastest) fastest = each;
    if (now_ns() - begun > kRowNs) break;
  }
  job.sync();
  session.report({name, fastest, std::nullopt, "", ""});
}

}  // namespace

void measure_one_sided(Session& session) {
  Job& job = session.job();
  const gex_TM_t tm = job.tm();
  const gex_Rank_t peer = job.peer();
  unsigned char* const theirs = job.owner_address(peer);
  const size_t half = job.segment_bytes() / 2;
  unsigned char* const local = job.owner_address(job.rank()) + half;
  const auto put = [&](size_t bytes) {
    return [=] { gex_RMA_PutBlocking(tm, peer, theirs, local, bytes, 0); };
  };
  const auto get = [&](size_t bytes) {
    return [=] { gex_RMA_GetBlocking(tm, local, peer, theirs, bytes, 0); };
  };
  gex_AD_t domain = GEX_AD_INVALID;
  gex_AD_Create(&domain, tm, GEX_DT_U64, GEX_OP_FADD, 0);
  measure_row(session, "put8", 1, put(8));
  measure_row(session, "get8", 1, get(8));
  measure_row(session, "fetch_add8", 1, [=] {
    uint64_t old = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &old, peer, theirs, GEX_OP_FADD, 1, 0, 0));
  });
  measure_row(session, "put.4KiB", 1, put(4 << 10));
  measure_row(session, "get.4KiB", 1, get(4 << 10));
  constexpr size_t kMiB = 1 << 20;
  constexpr uint32_t kAtOnce = 8;
  if (half < kAtOnce * kMiB) return;
  measure_row(session, "put.1MiB", kAtOnce, [=] {
    for (uint32_t i = 0; i < kAtOnce; ++i)
      gex_RMA_PutNBI(tm, peer, theirs + i * kMiB, local + i * kMiB, kMiB, GEX_EVENT_DEFER, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  });
  measure_row(session, "get.1MiB", kAtOnce, [=] {
    for (uint32_t i = 0; i < kAtOnce; ++i)
      gex_RMA_GetNBI(tm, local + i * kMiB, peer, theirs + i * kMiB, kMiB, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
  });
  job.sync();
  gex_AD_Destroy(domain);
}

}  // namespace causeway::bench
