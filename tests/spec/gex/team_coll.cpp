// Collectives on teams of every origin: split, created, duplicated, of several endpoints of a
// process, many at once, destroyed while others are in use, and from threads.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "extra_endpoints.h"
#include "team_load.h"

using spec::extra;
using spec::job;
using spec::kEndpoints;
using spec::load_teams;

namespace {

using Teams = std::vector<gex_TM_t>;

gex_TM_t split(gex_TM_t parent, int color, int key) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, parent, color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}
// Takes part in the call, not in a team.
void stand_aside(gex_TM_t parent) {
  gex_TM_Split(nullptr, parent, 0, 0, nullptr, 0, 0);
}
gex_TM_t duplicate(gex_TM_t tm) {
  gex_TM_t copy = GEX_TM_INVALID;
  gex_TM_Dup(&copy, tm, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return copy;
}
void destroy(const Teams& teams) {
  for (const gex_TM_t tm : teams) gex_TM_Destroy(tm, nullptr, 0);
}

gex_Rank_t columns() {
  gex_Rank_t q = 1;
  while ((q + 1) * (q + 1) <= job().size) ++q;
  return q;
}

// The local members of a team of the first `count(rank)` endpoints of every rank.
template <typename Count>
Teams create(Count count, gex_TM_t parent) {
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = 0; r < job().size; ++r)
    for (unsigned i = 0; i < count(r); ++i) args.push_back({r, extra().index[i]});
  Teams members(count(job().rank), GEX_TM_INVALID);
  gex_TM_Create(members.data(), members.size(), parent, args.data(), args.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  return members;
}

unsigned hash(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9E3779B97F4A7C15u + b * 0xBF58476D1CE4E5B9u + 0x94D049BB133111EBu;
  z ^= z >> 29;
  return static_cast<unsigned>(z * 0xD1B54A32D192ED03u >> 40);
}

size_t bytes_in_use() {
  return mallinfo2().uordblks;
}

bool checks_are_full() {
  const char* set = std::getenv("CAUSEWAY_SET");
  return set != nullptr && std::strstr(set, "checks") != nullptr;
}

}  // namespace

// Rows, columns, everybody in another order, and a duplicate, all in use at once.
SPEC_CASE(team_coll, rows_and_columns) {
  const gex_Rank_t q = columns(), row = job().rank / q, column = job().rank % q;
  const int backwards = -static_cast<int>(job().rank);
  Teams teams = {job().tm, split(job().tm, static_cast<int>(row), backwards),
                 split(job().tm, static_cast<int>(column), 0), split(job().tm, 0, backwards)};
  teams.push_back(duplicate(teams[1]));
  teams.push_back(split(teams[3], static_cast<int>(column), static_cast<int>(row)));
  for (unsigned round = 0; round < spec::scaled(12, 3); ++round)
    for (const size_t count : {1u, 37u, 3000u})
      if (!load_teams(teams, round, count, job().rank + round)) return;
  destroy({teams.begin() + 1, teams.end()});
  spec::barrier();
}

// Members chosen at random, so that any two teams overlap in their own way. More runs of each team
// than it has frames.
SPEC_CASE(team_coll, overlapping) {
  for (unsigned round = 0; round < spec::scaled(4, 2); ++round) {
    Teams teams;
    for (unsigned t = 0; t < 6; ++t) {
      const unsigned own = hash(round * 8 + t, job().rank);
      if (own % 4 == 0) {
        stand_aside(job().tm);
      } else {
        teams.push_back(split(job().tm, own % 8 < 6 ? 1 : 2, static_cast<int>(own % 1000)));
      }
    }
    Teams thrice;
    for (unsigned again = 0; again < 3; ++again)
      thrice.insert(thrice.end(), teams.begin(), teams.end());
    if (teams.empty()) continue;
    load_teams(teams, round, 500, job().rank);
    // Three loads of one team in a row; the team's order is the order of `thrice` everywhere.
    std::vector<spec::TeamLoad> loads;
    loads.reserve(thrice.size());
    for (size_t i = 0; i < thrice.size(); ++i)
      loads.emplace_back(thrice[i], round + 9, 40 + i / teams.size());
    std::vector<gex_Event_t> events;
    for (size_t k = 0; k < teams.size(); ++k) {
      const size_t team = job().rank % 2 == 0 ? k : teams.size() - 1 - k;
      for (size_t i = team; i < loads.size(); i += teams.size())
        for (unsigned kind = 0; kind < spec::TeamLoad::kKinds; ++kind)
          events.push_back(loads[i].begin(kind));
    }
    std::reverse(events.begin(), events.end());
    gex_Event_WaitAll(events.data(), events.size(), 0);
    for (const spec::TeamLoad& load : loads) load.check();
    destroy(teams);
  }
  spec::barrier();
}

// Several members of a process in one team, as many everywhere or not, also split and duplicated,
// beside teams of one member each.
SPEC_CASE(team_coll, several_members) {
  const auto all = [](gex_Rank_t) { return kEndpoints; };
  const auto uneven = [](gex_Rank_t r) { return 1 + r % 3; };
  const auto only_last = [](gex_Rank_t r) { return r == job().size - 1 ? 2u : 1u; };
  for (unsigned round = 0; round < spec::scaled(4, 2); ++round) {
    const Teams whole = create(all, job().tm), some = create(uneven, job().tm),
                last = create(only_last, job().tm);
    const gex_TM_t rest = split(job().tm, 0, -static_cast<int>(job().rank));
    Teams teams = whole;
    teams.insert(teams.end(), some.begin(), some.end());
    teams.insert(teams.end(), last.begin(), last.end());
    teams.push_back(rest);
    for (const size_t count : {1u, 64u, 5000u})
      if (!load_teams(teams, round, count, job().rank + round)) return;
    destroy(some);
    load_teams(whole, round + 1, 100, job().rank);
    destroy(last);
    destroy({rest});
    destroy(whole);
  }
  spec::barrier();
}

// A team ends and another begins while collectives of others are under way.
SPEC_CASE(team_coll, ends_beside_others) {
  const gex_TM_t steady = split(job().tm, 0, -static_cast<int>(job().rank));
  for (unsigned round = 0; round < spec::scaled(30, 5); ++round) {
    const gex_TM_t brief = duplicate(round % 2 == 0 ? job().tm : steady);
    spec::TeamLoad long_load(steady, round, 20000), world(job().tm, round + 1, 300),
        brief_load(brief, round + 2, 10);
    std::vector<gex_Event_t> events, brief_events;
    for (unsigned kind = 0; kind < spec::TeamLoad::kKinds; ++kind) {
      events.push_back(long_load.begin(kind));
      events.push_back(world.begin(kind));
      brief_events.push_back(brief_load.begin(kind));
    }
    gex_Event_WaitAll(brief_events.data(), brief_events.size(), 0);
    const bool right = brief_load.check();
    gex_TM_Destroy(brief, nullptr, 0);
    const gex_TM_t next = split(job().tm, static_cast<int>(job().rank % 2), 0);
    gex_Event_Wait(gex_Coll_BarrierNB(next, 0));
    gex_Event_WaitAll(events.data(), events.size(), 0);
    if (!long_load.check() || !world.check() || !right) return;
    spec::barrier();
    gex_TM_Destroy(next, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
  }
  gex_TM_Destroy(steady, nullptr, 0);
  spec::barrier();
}

// More teams at once than have room in the memory that neighbors share; the space of those that
// ended is used again.
SPEC_CASE(team_coll, more_than_the_arena_holds) {
  constexpr size_t kTeams = 80;
  Teams teams;
  for (size_t t = 0; t < kTeams; ++t) teams.push_back(duplicate(job().tm));
  load_teams(teams, 1, 20, job().rank);
  Teams kept;
  for (size_t t = 0; t < kTeams; ++t) {
    if (t % 3 == 0) {
      kept.push_back(teams[t]);
    } else {
      gex_TM_Destroy(teams[t], nullptr, 0);
    }
  }
  for (size_t t = 0; t < kTeams / 2; ++t) kept.push_back(split(job().tm, 0, static_cast<int>(t)));
  load_teams(kept, 2, 20, job().rank + 1);
  destroy(kept);
  spec::barrier();
}

// Catches what a team leaves behind when it ends: memory, its number, its frames, its mailbox.
SPEC_CASE(team_coll, nothing_is_left_behind) {
  const auto all = [](gex_Rank_t) { return kEndpoints; };
  const auto rounds = [&](unsigned count) {
    for (unsigned round = 0; round < count; ++round) {
      const gex_TM_t pair = split(job().tm, static_cast<int>(job().rank / 2), 0);
      const gex_TM_t copy = duplicate(job().tm);
      load_teams({pair, copy}, round, 3, job().rank);
      gex_TM_Destroy(pair, nullptr, 0);
      if (round % 8 == 0) {
        const Teams members = create(all, copy);
        load_teams(members, round, 3, job().rank);
        destroy(members);
      }
      gex_TM_Destroy(copy, nullptr, 0);
    }
    spec::barrier();
  };
  const unsigned count = spec::scaled(160, 40);
  rounds(count);  // pools and tables find their size
  const size_t before = bytes_in_use();
  rounds(count);
  const size_t after = bytes_in_use();
  if (before == 0) return spec::skip_case("this allocator does not say what is in use");
  if (checks_are_full()) return spec::skip_case("checks: full keeps events back");
  // One lost mailbox per round is about 150 bytes. Other threads' pools may move a little.
  const size_t allowed = size_t{count} * 32 + 4096;
  if (after > before + allowed)
    FAIL(std::to_string(after - before) + " bytes more in use after " + std::to_string(count) +
         " rounds");
}

// An endpoint made for collectives alone, with the data in its segment: what collectives are made
// of is the library's affair.
SPEC_CASE(team_coll, endpoints_for_collectives_only) {
  static gex_EP_t ep = GEX_EP_INVALID;
  constexpr size_t kCount = 50000;
  static gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK_EQ(gex_EP_Create(&ep, job().client, GEX_EP_CAPABILITY_COLL, 0), GASNET_OK);
  CHECK_EQ(gex_Segment_Create(&segment, job().client, nullptr, 3 * kCount * 8, GEX_MK_HOST, 0),
           GASNET_OK);
  CHECK_EQ(gex_EP_BindSegment(ep, segment, 0), GASNET_OK);
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, &ep, 1, 0), GASNET_OK);
  std::vector<gex_EP_Location_t> args;
  for (gex_Rank_t r = 0; r < job().size; ++r) args.push_back({r, gex_EP_QueryIndex(ep)});
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, job().tm, args.data(), args.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK_EQ(gex_TM_QueryEP(tm), ep);
  auto* const own = static_cast<uint64_t*>(gex_Segment_QueryAddr(segment));
  uint64_t *const sum = own + kCount, *const cast = sum + kCount;
  for (const size_t count : {size_t{1}, size_t{900}, kCount}) {
    for (size_t i = 0; i < count; ++i) own[i] = job().rank + i;
    if (job().rank == 0) std::copy(own, own + count, cast);
    gex_Event_t events[] = {
        gex_Coll_ReduceToAllNB(tm, sum, own, GEX_DT_U64, 8, count, GEX_OP_ADD, nullptr, nullptr, 0),
        gex_Coll_BroadcastNB(tm, 0, cast, cast, 8 * count, 0)};
    gex_Event_WaitAll(events, 2, 0);
    const uint64_t n = job().size;
    for (size_t i = 0; i < count; ++i)
      if (!CHECK_EQ(sum[i], n * (n - 1) / 2 + n * i) || !CHECK_EQ(cast[i], i)) break;
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  }
  gex_TM_Destroy(tm, nullptr, 0);
  spec::barrier();
}

#ifdef GASNET_PAR
// Each thread its own teams: made, used and ended at the same time as those of the others.
SPEC_CASE(team_coll, threads_on_different_teams) {
  constexpr unsigned kThreads = 4;
  Teams own;
  for (unsigned t = 0; t < kThreads; ++t) own.push_back(duplicate(job().tm));
  const auto work = [&](unsigned t) {
    for (unsigned round = 0; round < spec::scaled(12, 3); ++round) {
      const int color = static_cast<int>((job().rank + t) % 2);
      const gex_TM_t part = split(own[t], color, -static_cast<int>(job().rank));
      const gex_TM_t copy = duplicate(own[t]);
      const bool right =
          load_teams({own[t], part, copy}, round * kThreads + t, 1 + 400 * (t % 2), job().rank + t);
      gex_TM_Destroy(part, nullptr, 0);
      gex_TM_Destroy(copy, nullptr, 0);
      if (!right) return;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < kThreads; ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
  destroy(own);
  spec::barrier();
}

// Each thread drives its process' member of one team of several endpoints.
SPEC_CASE(team_coll, a_thread_for_each_member) {
  const auto all = [](gex_Rank_t) { return kEndpoints; };
  const Teams members = create(all, job().tm);
  const auto work = [&](unsigned t) {
    for (unsigned round = 0; round < spec::scaled(30, 5); ++round)
      if (!load_teams({members[t]}, round, 1 + 50 * (round % 5), job().rank + t)) return;
    gex_TM_Destroy(members[t], nullptr, 0);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < kEndpoints; ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
  spec::barrier();
}
#endif
