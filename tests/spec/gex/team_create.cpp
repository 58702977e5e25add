// gex_TM_Create: teams of any endpoints, several of one process among them, with every kind of
// scratch.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "extra_endpoints.h"

using spec::extra;
using spec::job;
using spec::kEndpoints;

namespace {

void barrier_on(const std::vector<gex_TM_t>& members) {
  std::vector<gex_Event_t> events;
  for (const gex_TM_t tm : members) events.push_back(gex_Coll_BarrierNB(tm, 0));
  gex_Event_WaitAll(events.data(), events.size(), 0);
}

// All endpoints of all ranks, those of one process next to each other (or each index together).
std::vector<gex_EP_Location_t> everybody(bool by_process) {
  std::vector<gex_EP_Location_t> out;
  if (by_process) {
    for (gex_Rank_t r = 0; r < job().size; ++r)
      for (unsigned i = 0; i < kEndpoints; ++i) out.push_back({r, extra().index[i]});
  } else {
    for (unsigned i = kEndpoints; i-- > 0;)
      for (gex_Rank_t r = 0; r < job().size; ++r) out.push_back({r, extra().index[i]});
  }
  return out;
}

std::atomic<unsigned> arrived{0}, wrong{0};
void on_short(gex_Token_t token, gex_AM_Arg_t place) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  if (info.gex_ep != extra().ep[static_cast<unsigned>(place)]) wrong.fetch_add(1);
  arrived.fetch_add(1, std::memory_order_release);
}
gex_AM_Index_t handler_index() {
  static const gex_AM_Index_t index = [] {
    gex_AM_Entry_t entry = {0,
                            reinterpret_cast<gex_AM_Fn_t>(&on_short),
                            GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                            1,
                            nullptr,
                            "team_create"};
    spec::register_handlers(&entry, 1);
    for (unsigned i = 1; i < kEndpoints; ++i) gex_EP_RegisterHandlers(extra().ep[i], &entry, 1);
    spec::barrier();
    return entry.gex_index;
  }();
  return index;
}

unsigned place_of(gex_EP_Index_t index) {
  const auto& all = extra().index;
  return static_cast<unsigned>(std::find(all.begin(), all.end(), index) - all.begin());
}

// From every local member to every member: a message and a transfer each.
void exercise(const std::vector<gex_TM_t>& members) {
  const gex_AM_Index_t handler = handler_index();
  arrived = 0;
  barrier_on(members);
  const gex_Rank_t n = gex_TM_QuerySize(members[0]);
  for (const gex_TM_t tm : members)
    for (gex_Rank_t r = 0; r < n; ++r) {
      const gex_EP_Location_t there = gex_TM_TranslateRankToEP(tm, r, 0);
      const unsigned place = place_of(there.gex_ep_index);
      gex_AM_RequestShort1(tm, r, handler, 0, static_cast<gex_AM_Arg_t>(place));
      std::byte* to =
          spec::extra_segment(there.gex_rank, place, 1024 * place + 8 * gex_TM_QueryRank(tm));
      gex_RMA_PutBlockingVal(tm, r, to, gex_TM_QueryRank(tm) * 1000 + r, 8, 0);
      CHECK_EQ(gex_RMA_GetBlockingVal(tm, r, to, 8, 0), gex_TM_QueryRank(tm) * 1000 + r);
    }
  const unsigned expected = static_cast<unsigned>(n * members.size());
  GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == expected);
  CHECK_EQ(wrong.load(), 0u);
  barrier_on(members);
}

void destroy(const std::vector<gex_TM_t>& members, gex_Flags_t flags = 0) {
  for (const gex_TM_t tm : members) gex_TM_Destroy(tm, nullptr, flags);
  spec::barrier();
}

}  // namespace

// Several endpoints of each process in one team, in two orders.
SPEC_CASE(team_create, many_members_per_process) {
  for (const bool by_process : {true, false}) {
    std::vector<gex_EP_Location_t> args = everybody(by_process);
    std::vector<gex_TM_t> members(kEndpoints, GEX_TM_INVALID);
    CHECK_EQ(gex_TM_Create(members.data(), members.size(), job().tm, args.data(), args.size(),
                           nullptr, 0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK),
             0u);
    gex_Rank_t before = 0;
    for (unsigned i = 0; i < kEndpoints; ++i) {
      const gex_TM_t tm = members[i];
      if (!CHECK(tm != GEX_TM_INVALID)) return;
      CHECK_EQ(gex_TM_QuerySize(tm), args.size());
      const gex_Rank_t me = gex_TM_QueryRank(tm);
      // In rank order, and each with the endpoint that args[] names there.
      if (i > 0) CHECK(me > before);
      before = me;
      CHECK_EQ(args[me].gex_rank, job().rank);
      CHECK_EQ(gex_EP_QueryIndex(gex_TM_QueryEP(tm)), args[me].gex_ep_index);
      for (gex_Rank_t r = 0; r < args.size(); ++r) {
        CHECK_EQ(gex_TM_TranslateRankToJobrank(tm, r), args[r].gex_rank);
        const gex_EP_Location_t location = gex_TM_TranslateRankToEP(tm, r, 0);
        CHECK_EQ(location.gex_rank, args[r].gex_rank);
        CHECK_EQ(location.gex_ep_index, args[r].gex_ep_index);
      }
      for (gex_Rank_t j = 0; j < job().size; ++j) {
        const gex_Rank_t r = gex_TM_TranslateJobrankToRank(tm, j);
        CHECK(r < args.size() && args[r].gex_rank == j);
      }
    }
    exercise(members);
    for (unsigned i = 0; i < 5; ++i) barrier_on(members);
    destroy(members);
  }
}

// Two disjoint teams at once; the odd ranks' second endpoint, the even ranks' third; names are
// relative to a parent in another order; the caller's own endpoint is in neither.
SPEC_CASE(team_create, disjoint_teams_of_other_endpoints) {
  gex_TM_t parent = GEX_TM_INVALID;
  gex_TM_Split(&parent, job().tm, 0, -static_cast<int>(job().rank), nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  const bool odd = job().rank % 2 != 0;
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = odd ? 1 : 0; r < job().size; r += 2)
    args.push_back({gex_TM_TranslateJobrankToRank(parent, r), extra().index[odd ? 2 : 3]});
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, parent, args.data(), args.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Destroy(parent, nullptr, 0);
  CHECK_EQ(gex_TM_QueryEP(tm), extra().ep[odd ? 2 : 3]);
  CHECK_EQ(gex_TM_QueryRank(tm), job().rank / 2);
  exercise({tm});
  destroy({tm});
}

// Some callers create nothing.
SPEC_CASE(team_create, nothing_for_some, 2) {
  gex_EP_Location_t args[] = {{1, extra().index[1]}, {1, extra().index[2]}};
  handler_index();
  if (job().rank == 1) {
    std::vector<gex_TM_t> members(2, GEX_TM_INVALID);
    gex_TM_Create(members.data(), 2, job().tm, args, 2, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    CHECK_EQ(gex_TM_QuerySize(members[1]), 2u);
    exercise(members);
    for (const gex_TM_t tm : members) gex_TM_Destroy(tm, nullptr, 0);
  } else {
    gex_TM_Create(nullptr, 0, job().tm, nullptr, 0, nullptr, 0, 0);
  }
  spec::barrier();
}

// Every kind of scratch, by address and by offset.
SPEC_CASE(team_create, scratch) {
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = 0; r < job().size; ++r)
    for (unsigned i = 1; i < 3; ++i) args.push_back({r, extra().index[i]});
  constexpr size_t kSize = 4096;
  const size_t wanted =
      gex_TM_Create(nullptr, 2, job().tm, args.data(), args.size(), nullptr, 0,
                    GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_LOCAL_SCRATCH);
  CHECK(wanted > 0);
  const auto offset = [](size_t n) { return reinterpret_cast<gex_Addr_t>(n); };
  const auto offset_of = [](size_t member) { return 8192 + 64 * member; };
  for (const gex_Flags_t unit : {gex_Flags_t{0}, GEX_FLAG_SCRATCH_SEG_OFFSET})
    for (const gex_Flags_t mode :
         {GEX_FLAG_TM_GLOBAL_SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH, GEX_FLAG_TM_SYMMETRIC_SCRATCH}) {
      // One address for all members exists as an offset only.
      if (mode == GEX_FLAG_TM_SYMMETRIC_SCRATCH && unit == 0) continue;
      std::vector<gex_Addr_t> addrs;
      for (size_t m = 0; m < args.size(); ++m) {
        const bool mine = args[m].gex_rank == job().rank;
        if (mode == GEX_FLAG_TM_LOCAL_SCRATCH && !mine) continue;
        if (mode == GEX_FLAG_TM_SYMMETRIC_SCRATCH && m > 0) continue;
        const size_t at = mode == GEX_FLAG_TM_SYMMETRIC_SCRATCH ? 8192 : offset_of(m);
        addrs.push_back(unit != 0 ? offset(at)
                                  : static_cast<gex_Addr_t>(
                                        spec::extra_segment(args[m].gex_rank, 1 + m % 2, at)));
      }
      std::vector<gex_TM_t> members(2, GEX_TM_INVALID);
      gex_TM_Create(members.data(), 2, job().tm, args.data(), args.size(), addrs.data(), kSize,
                    mode | unit | GEX_FLAG_RANK_IS_JOBRANK);
      barrier_on(members);
      for (unsigned i = 0; i < 2; ++i) {
        const size_t m = 2 * job().rank + i;
        gex_Memvec_t got = {nullptr, 0};
        CHECK(gex_TM_Destroy(members[i], &got, GEX_FLAG_SCRATCH_SEG_OFFSET) != 0);
        CHECK_EQ(got.gex_len, kSize);
        CHECK_EQ(reinterpret_cast<size_t>(got.gex_addr),
                 mode == GEX_FLAG_TM_SYMMETRIC_SCRATCH ? 8192 : offset_of(m));
      }
      spec::barrier();
    }
}

#ifdef GASNET_PAR
// A parent with several members in each process: one thread each makes the call. Both callers of
// a process that name the same endpoints receive the same members.
SPEC_CASE(team_create, callers_in_threads) {
  std::vector<gex_EP_Location_t> both;
  for (gex_Rank_t r = 0; r < job().size; ++r)
    for (unsigned i = 1; i < 3; ++i) both.push_back({r, extra().index[i]});
  std::array<gex_TM_t, 2> parent{};
  gex_TM_Create(parent.data(), 2, job().tm, both.data(), both.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  handler_index();
  std::array<gex_TM_t, 2> own{};  // each thread its own team
  std::array<std::array<gex_TM_t, 2>, 2> shared{};
  const auto work = [&](unsigned t) {
    std::vector<gex_EP_Location_t> mine;
    for (gex_Rank_t r = 0; r < job().size; ++r) mine.push_back({r, extra().index[t + 1]});
    gex_TM_Create(&own[t], 1, parent[t], mine.data(), mine.size(), nullptr, 0,
                  GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
    gex_Event_Wait(gex_Coll_BarrierNB(own[t], 0));
    gex_TM_Create(shared[t].data(), 2, parent[t], both.data(), both.size(), nullptr, 0,
                  GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
    gex_TM_t part = GEX_TM_INVALID;
    gex_TM_Split(&part, parent[t], static_cast<int>(t), 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_t whole = GEX_TM_INVALID;
    gex_TM_Split(&whole, parent[t], 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_Event_Wait(gex_Coll_BarrierNB(whole, 0));
    gex_Event_Wait(gex_Coll_BarrierNB(part, 0));
    gex_TM_Destroy(part, nullptr, 0);
    gex_TM_Destroy(whole, nullptr, 0);
    gex_TM_Destroy(own[t], nullptr, 0);
  };
  std::thread second(work, 1);
  work(0);
  second.join();
  CHECK(shared[0] == shared[1]);
  exercise({shared[0][0], shared[0][1]});
  destroy({shared[0][0], shared[0][1]});
  destroy({parent[0], parent[1]});
}
#endif
