// Atomic domains over teams other than the primordial one: split and reversed, of endpoints that
// were created, several at once, made and ended over and over.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "atomics.h"
#include "extra_endpoints.h"

using spec::extra;
using spec::job;
using spec::kEndpoints;

namespace {

constexpr gex_OP_t kOps = GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET | GEX_OP_SET | GEX_OP_FCAS;

// The cases' words in the segment of an endpoint, which may start anywhere.
std::byte* words_of(gex_Rank_t rank, unsigned place) {
  constexpr size_t kWords = 40960;
  const auto at = reinterpret_cast<uintptr_t>(spec::extra_segment(rank, place, kWords));
  return reinterpret_cast<std::byte*>((at + 7) / 8 * 8);
}
uint64_t* word_of(gex_EP_Location_t at, size_t index) {
  unsigned place = 0;
  while (extra().index[place] != at.gex_ep_index) ++place;
  return reinterpret_cast<uint64_t*>(words_of(at.gex_rank, place) + 8 * index);
}
uint64_t* word_of(gex_TM_t tm, gex_Rank_t rank, size_t index) {
  return word_of(gex_TM_TranslateRankToEP(tm, rank, 0), index);
}

void clear_words() {
  for (unsigned i = 0; i < kEndpoints; ++i) std::memset(words_of(job().rank, i), 0, 4096);
  spec::barrier();
}

void barrier_on(const std::vector<gex_TM_t>& members) {
  std::vector<gex_Event_t> events;
  for (const gex_TM_t tm : members) events.push_back(gex_Coll_BarrierNB(tm, 0));
  gex_Event_WaitAll(events.data(), events.size(), 0);
}

uint64_t fetch(gex_AD_t ad, gex_Rank_t rank, uint64_t* word, gex_OP_t op, uint64_t operand,
               gex_Flags_t flags = 0) {
  uint64_t got = ~uint64_t{0};
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &got, rank, word, op, operand, 0, flags));
  return got;
}

gex_TM_t split(int color, int key) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, job().tm, color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

}  // namespace

// The rank of a call is the team's, and with GEX_FLAG_RANK_IS_JOBRANK the job's; both reach the
// same word. Two overlapping teams at once, each with words of its own.
SPEC_CASE(team_atomics, split_teams) {
  clear_words();
  const gex_Rank_t q = job().size > 2 ? 2 : 1;
  const gex_TM_t teams[] = {split(static_cast<int>(job().rank % q), -static_cast<int>(job().rank)),
                            split(0, -static_cast<int>(job().rank))};
  const unsigned each = spec::scaled(100, 10);
  {
    const atomics::Domain domains[] = {{GEX_DT_U64, kOps, 0, teams[0]},
                                       {GEX_DT_U64, kOps, GEX_FLAG_AD_FAVOR_MY_NBRHD, teams[1]}};
    for (unsigned d = 0; d < 2; ++d) {
      CHECK_EQ(gex_AD_QueryTM(domains[d]), teams[d]);
      const gex_Rank_t n = gex_TM_QuerySize(teams[d]);
      for (unsigned i = 0; i < each; ++i)
        for (gex_Rank_t r = 0; r < n; ++r) {
          uint64_t* const word = word_of(teams[d], r, d);
          fetch(domains[d], r, word, GEX_OP_FADD, 3);
          gex_AD_OpNBI_U64(domains[d], nullptr, gex_TM_TranslateRankToJobrank(teams[d], r), word,
                           GEX_OP_ADD, 2, 0, GEX_FLAG_RANK_IS_JOBRANK);
        }
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
    spec::barrier();
    for (unsigned d = 0; d < 2; ++d) {
      const gex_Rank_t n = gex_TM_QuerySize(teams[d]), me = gex_TM_QueryRank(teams[d]);
      CHECK_EQ(fetch(domains[d], me, word_of(teams[d], me, d), GEX_OP_GET, 0, GEX_FLAG_AD_MY_RANK),
               uint64_t{5} * each * n);
      CHECK_EQ(fetch(domains[d], job().rank, word_of(teams[d], me, d), GEX_OP_GET, 0,
                     GEX_FLAG_RANK_IS_JOBRANK),
               uint64_t{5} * each * n);
      const gex_Rank_t last = n - 1;
      CHECK_EQ(fetch(domains[d], last, word_of(teams[d], last, d), GEX_OP_GET, 0),
               uint64_t{5} * each * n);
    }
  }
  for (const gex_TM_t tm : teams) gex_TM_Destroy(tm, nullptr, 0);
  spec::barrier();
}

// Every created endpoint of every process is a member: each adds to the words of all, which lie in
// the members' own segments. Several members of a process make one domain each, all of one call.
SPEC_CASE(team_atomics, created_endpoints) {
  clear_words();
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = 0; r < job().size; ++r) args.push_back({r, extra().index[1]});
  for (gex_Rank_t r = job().size; r-- > 0;) args.push_back({r, extra().index[3]});
  std::vector<gex_TM_t> members(2, GEX_TM_INVALID);
  gex_TM_Create(members.data(), 2, job().tm, args.data(), args.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
#ifdef GASNET_PAR
  const unsigned active = 2;
  gex_AD_t ads[2] = {GEX_AD_INVALID, GEX_AD_INVALID};
  {
    std::thread second([&] { gex_AD_Create(&ads[1], members[1], GEX_DT_U64, kOps, 0); });
    gex_AD_Create(&ads[0], members[0], GEX_DT_U64, kOps, 0);
    second.join();
  }
#else
  // One thread cannot make a collective call for two members: a team of one member each.
  const unsigned active = 1;
  gex_TM_t alone = GEX_TM_INVALID;
  gex_TM_Create(&alone, 1, job().tm, args.data(), job().size, nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  gex_AD_t ads[1] = {GEX_AD_INVALID};
  gex_AD_Create(&ads[0], alone, GEX_DT_U64, kOps, 0);
#endif
  const unsigned each = spec::scaled(40, 5);
  gex_Rank_t n = 0;
  for (unsigned m = 0; m < active; ++m) {
    const gex_TM_t tm = gex_AD_QueryTM(ads[m]);
    n = gex_TM_QuerySize(tm);
    for (unsigned i = 0; i < each; ++i)
      for (gex_Rank_t r = 0; r < n; ++r) {
        gex_AD_OpNBI_U64(ads[m], nullptr, r, word_of(tm, r, 0), GEX_OP_ADD, 7, 0, 0);
        fetch(ads[m], r, word_of(tm, r, 0), GEX_OP_FADD, 4);
      }
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  spec::barrier();
  for (unsigned m = 0; m < active; ++m) {
    const gex_TM_t tm = gex_AD_QueryTM(ads[m]);
    for (gex_Rank_t r = 0; r < n; ++r)
      CHECK_EQ(fetch(ads[m], r, word_of(tm, r, 0), GEX_OP_GET, 0), uint64_t{11} * each * n);
  }
  spec::barrier();
  for (unsigned m = 0; m < active; ++m) gex_AD_Destroy(ads[m]);
  barrier_on(members);
  for (const gex_TM_t tm : members) gex_TM_Destroy(tm, nullptr, 0);
#ifndef GASNET_PAR
  gex_TM_Destroy(alone, nullptr, 0);
#endif
  spec::barrier();
}

// Domains and their teams come and go, of several types at once, while others stay in use.
SPEC_CASE(team_atomics, rounds) {
  clear_words();
  const atomics::Domain steady(GEX_DT_U64, kOps);
  uint64_t* const words = word_of({0, 0}, 16);
  const unsigned count = spec::scaled(40, 8);
  for (unsigned round = 0; round < count; ++round) {
    gex_AD_OpNBI_U64(steady, nullptr, 0, words, GEX_OP_ADD, 1, 0, 0);
    const gex_TM_t part = split(static_cast<int>(job().rank % 2), 0);
    {
      const atomics::Domain ints(GEX_DT_I32, GEX_OP_FADD | GEX_OP_GET, 0, part);
      const atomics::Domain floats(GEX_DT_DBL, GEX_OP_ADD | GEX_OP_GET, 0, part);
      // The words of rank 0 of the part: a type each.
      auto* const at = reinterpret_cast<int32_t*>(word_of(part, 0, 20));
      auto* const real = reinterpret_cast<double*>(word_of(part, 0, 21));
      int32_t got = -1;
      gex_Event_Wait(gex_AD_OpNB_I32(ints, &got, 0, at, GEX_OP_FADD, 1, 0, 0));
      gex_Event_Wait(gex_AD_OpNB_DBL(floats, nullptr, 0, real, GEX_OP_ADD, 0.5, 0, 0));
      gex_Event_Wait(gex_Coll_BarrierNB(part, 0));
      const auto n = static_cast<int32_t>(gex_TM_QuerySize(part) * (round + 1));
      double sum = -1;
      gex_Event_Wait(gex_AD_OpNB_I32(ints, &got, 0, at, GEX_OP_GET, 0, 0, 0));
      gex_Event_Wait(gex_AD_OpNB_DBL(floats, &sum, 0, real, GEX_OP_GET, 0, 0, 0));
      CHECK_EQ(got, n);
      CHECK_EQ(sum, 0.5 * n);
    }
    gex_TM_Destroy(part, nullptr, 0);
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
  spec::barrier();
  CHECK_EQ(fetch(steady, 0, words, GEX_OP_GET, 0), uint64_t{count} * job().size);
  spec::barrier();
}

#ifdef GASNET_PAR
// Threads use the domains of different teams at the same time, and one makes and ends domains.
SPEC_CASE(team_atomics, threads) {
  constexpr unsigned kThreads = 3;
  clear_words();
  std::vector<gex_TM_t> teams;
  std::vector<gex_AD_t> ads(kThreads, GEX_AD_INVALID);
  for (unsigned t = 0; t < kThreads; ++t)
    teams.push_back(split(0, t % 2 == 0 ? 0 : -static_cast<int>(job().rank)));
  const unsigned each = spec::scaled(100, 10);
  const auto work = [&](unsigned t) {
    for (unsigned round = 0; round < 3; ++round) {
      gex_AD_Create(&ads[t], teams[t], GEX_DT_U64, kOps, 0);
      for (unsigned i = 0; i < each; ++i) {
        const gex_Rank_t r = (job().rank + i) % job().size;
        fetch(ads[t], r, word_of(teams[t], r, 30 + t), GEX_OP_FADD, 1);
      }
      gex_Event_Wait(gex_Coll_BarrierNB(teams[t], 0));
      gex_AD_Destroy(ads[t]);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < kThreads; ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
  spec::barrier();
  const auto sum_of = [&](unsigned t) {
    uint64_t sum = 0;
    for (gex_Rank_t r = 0; r < job().size; ++r)
      sum += gex_RMA_GetBlockingVal(job().tm, r, word_of({r, 0}, 30 + t), 8, 0);
    return sum;
  };
  for (unsigned t = 0; t < kThreads; ++t) CHECK_EQ(sum_of(t), uint64_t{3} * each * job().size);
  for (const gex_TM_t tm : teams) gex_TM_Destroy(tm, nullptr, 0);
  spec::barrier();
}
#endif
