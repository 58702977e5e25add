// The last rank has returned from main; some time later the others call what needs it.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>

#include "../slowdown.h"
#include "api_victim.h"

namespace victim {
namespace {

char here[8192];
gex_Rank_t gone = 0;
std::atomic<unsigned> answers{0};

void on_question(gex_Token_t token) {
  gex_AM_ReplyShort0(token, 231, 0);
}
void on_answer(gex_Token_t) {
  answers.fetch_add(1, std::memory_order_relaxed);
}
void on_medium(gex_Token_t token, void*, size_t) {
  gex_AM_ReplyShort0(token, 231, 0);
}

void register_questions() {
  register_one(232, reinterpret_cast<gex_AM_Fn_t>(&on_medium),
               GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST);
  register_one(230, reinterpret_cast<gex_AM_Fn_t>(&on_question),
               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST);
  register_one(231, reinterpret_cast<gex_AM_Fn_t>(&on_answer),
               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY);
}

void await_answer(unsigned before) {
  GASNET_BLOCKUNTIL(answers.load(std::memory_order_relaxed) > before);
}
unsigned so_far() {
  return answers.load(std::memory_order_relaxed);
}

void request() {
  const unsigned before = so_far();
  gex_AM_RequestShort0(job.tm, gone, 230, 0);
  await_answer(before);
}
void negotiated() {
  const unsigned before = so_far();
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, gone, nullptr, 100, 512, nullptr, 0, 0);
  gex_AM_CommitRequestMedium0(sd, 232, 100);
  await_answer(before);
}
void put() {
  gex_RMA_PutBlocking(job.tm, gone, peer_segment(gone), here, sizeof here, 0);
}
void get() {
  gex_RMA_GetBlocking(job.tm, here, gone, peer_segment(gone), sizeof here, 0);
}
// The other one leaves in the middle of one of them.
void gets_meanwhile() {
  for (;;) get();
}
void memset_there() {
  gasnet_memset(gone, peer_segment(gone), 7, sizeof here);
}
void strided_put() {
  const ptrdiff_t stride[] = {128};
  const size_t count[] = {16};
  gex_Event_Wait(
      gex_VIS_StridedPutNB(job.tm, gone, peer_segment(gone), stride, here, stride, 8, count, 1, 0));
}
void named_barrier() {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}
void broadcast() {
  gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, gone, here, here, 64, 0));
}
void reduce() {
  static int64_t one = 1, sum = 0;
  gex_Event_Wait(gex_Coll_ReduceToOneNB(job.tm, 0, &sum, &one, GEX_DT_I64, sizeof one, 1,
                                        GEX_OP_ADD, nullptr, nullptr, 0));
  // Its own part is done when this returns; rank 0's is not.
  if (job.rank != 0) barrier();
}
void gather_all() {
  gasnet_coll_gather_all(GASNET_TEAM_ALL, here, here + 4096, 64,
                         GASNET_COLL_LOCAL | GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
}

const std::map<std::string, void (*)()>& calls() {
  static const std::map<std::string, void (*)()> all = {
      {"request", request},
      {"negotiated", negotiated},
      {"put", put},
      {"get", get},
      {"gets_meanwhile", gets_meanwhile},
      {"memset", memset_there},
      {"strided_put", strided_put},
      {"barrier", barrier},
      {"broadcast", broadcast},
      {"named_barrier", named_barrier},
      {"reduce", reduce},
      {"gather_all", gather_all},
  };
  return all;
}

// Rank 0 has begun a barrier and makes no calls for a while, in which another rank comes through
// the barrier and returns. The others wait for rank 0 alone.
void be_at_work_in_a_barrier() {
  const gex_Event_t event = gex_Coll_BarrierNB(job.tm, 0);
  if (job.rank == 0) ::usleep(2'000'000);
  gex_Event_Wait(event);
}

}  // namespace

bool left(int argc, char** argv) {
  if (argc < 1) return false;
  const std::string what = argv[0];
  start(&argc, &argv, GEX_FLAG_USES_GASNET1);
  register_questions();
  attach();
  if (what == "at_work") {
    be_at_work_in_a_barrier();
    return true;
  }
  const auto call = calls().find(what);
  if (call == calls().end()) return false;
  for (gone = 0; gone < job.size; ++gone) request();  // everybody is connected to everybody
  barrier();
  gone = job.size - 1;
  const bool meanwhile = what == "gets_meanwhile";
  if (job.rank == gone) return ::usleep(meanwhile ? 300'000 : 0), true;
  peer_segment(gone);
  // With timeouts.exit=0.5s it has ended by then.
  if (!meanwhile) ::usleep(static_cast<useconds_t>(1'200'000 * kSlowdown));
  call->second();
  say("came through\n");
  return true;
}

}  // namespace victim
