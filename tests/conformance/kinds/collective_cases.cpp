// Collective algorithms: facts, purity of scores, and whole runs on simulated teams.
#include <causeway/collective.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/endpoint.h"
#include "harness/expect.h"
#include "kinds.h"
#include "simulated_run.h"
#include "team_simulation.h"

namespace causeway::conformance {
namespace {

using Affine = TeamSimulation::Affine;
constexpr uint32_t kLargestTeam = 9;

const std::vector<cwyl_candidate>& candidates() {
  return collective_plugin().candidates;
}

// ---- facts ----------------------------------------------------------------------------------

// Catches candidates that cannot be named in a configuration, chosen or run.
void facts() {
  EXPECT_GE(candidates().size(), 1u) << "a plugin without candidates";
  std::set<std::string> names;
  for (const cwyl_candidate& c : candidates()) {
    ASSERT_NE(c.name, nullptr);
    const std::string name = c.name;
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos)
        << "name " << name;
    EXPECT_LT(c.operation, uint32_t{CWYL_OPERATIONS}) << title(c);
    EXPECT_TRUE(names.insert(title(c)).second) << title(c) << " is listed twice";
    EXPECT_LE(c.min_bytes, c.max_bytes) << title(c);
    EXPECT_LE(c.min_team, c.max_team) << title(c);
    EXPECT_EQ(c.reserved, 0u) << title(c) << " uses what is reserved";
    EXPECT_LE(c.keeps_order, 1u) << title(c);
    EXPECT_NE(c.score, nullptr) << title(c);
    EXPECT_NE(c.start, nullptr) << title(c);
    EXPECT_NE(c.step, nullptr) << title(c);
  }
}

cwyl_shape shape(uint32_t operation, uint32_t team, uint64_t bytes, uint32_t nbrhds) {
  cwyl_shape s{};
  s.head = CWY_HEAD(cwyl_shape);
  s.operation = operation;
  s.team_size = team;
  s.nbrhd_count = nbrhds;
  s.bytes = bytes;
  s.scratch_bytes = 64 << 10;
  s.element_bytes = operation >= CWYL_REDUCE_ONE ? sizeof(Affine) : 1;
  s.host_count = nbrhds;
  s.nbrhd_most = (team + nbrhds - 1) / nbrhds;
  s.domain_count = nbrhds;
  s.domain_most = s.nbrhd_most;
  return s;
}

// Catches scores that depend on anything but the shape: members would choose differently.
void scores_are_pure() {
  for (const cwyl_candidate& c : candidates()) {
    std::vector<cwyl_shape> shapes;
    for (uint32_t team = 1; team <= 64; team *= 2) {
      for (const uint64_t bytes : {0ull, 8ull, 4096ull, 1ull << 22}) {
        shapes.push_back(shape(c.operation, team, bytes, team > 4 ? 2 : 1));
      }
    }
    std::vector<int32_t> first;
    for (const cwyl_shape& s : shapes) first.push_back(c.score(&s));
    for (int round = 0; round < 3; ++round) {
      for (size_t i = shapes.size(); i-- != 0;) {
        const cwyl_shape copy = shapes[i];  // at another address
        ASSERT_EQ(c.score(&copy), first[i]) << title(c) << " scores one shape differently";
      }
    }
  }
}

// ---- runs -----------------------------------------------------------------------------------

enum class Schedule { round_robin, random, overlapping };

// Drives one or two runs to their ends, or fails when nothing moves any more.
void drive(const cwyl_candidate& c, TeamSimulation& team, Schedule schedule, uint64_t count,
           Random& random) {
  const uint32_t size = team.size();
  Call call{count};
  call.root = static_cast<uint32_t>(random.below(size));
  std::vector<std::unique_ptr<SimulatedRun>> runs;
  const cwyl_seq n = schedule == Schedule::overlapping ? 2 : 1;
  for (cwyl_seq seq = 1; seq <= n; ++seq) {
    runs.push_back(std::make_unique<SimulatedRun>(c, team, seq, call));
  }
  constexpr uint32_t kPatience = 100'000;
  const auto finished = [&] {
    return std::all_of(runs.begin(), runs.end(), [](const auto& r) { return r->all_done(); });
  };
  for (uint32_t turn = 0; !finished(); ++turn) {
    if (turn == kPatience || has_failure()) {
      ADD_FAILURE() << title(c) << ": stuck with " << size << " members";
      return;
    }
    const auto rank =
        static_cast<uint32_t>(schedule == Schedule::round_robin ? turn % size : random.below(size));
    // A member begins its runs in order, and may be a run ahead of the others.
    SimulatedRun& first = *runs.front();
    first.advance(rank);
    if (n == 2 && first.begun(rank)) runs[1]->advance(rank);
    if (random.below(3) == 0) team.deliver(false);
    ASSERT_EQ(team.breach(), "") << title(c);
  }
  team.deliver(true);
  ASSERT_EQ(team.breach(), "") << title(c);
  for (const auto& run : runs) run->judge();
}

void run_operation(uint32_t operation) {
  Random random(kind_settings().seed);
  bool any = false;
  for (const cwyl_candidate& c : candidates()) {
    if (c.operation != operation) continue;
    any = true;
    for (uint32_t size = std::max(1u, c.min_team); size <= std::min(kLargestTeam, c.max_team);
         ++size) {
      for (const Sharing& sharing : kSharings) {
        for (const Schedule schedule :
             {Schedule::round_robin, Schedule::random, Schedule::overlapping}) {
          for (const uint64_t count : {0u, 1u, 5u, 257u, 5000u}) {
            const Access access = kAccesses[random.below(std::size(kAccesses))];
            TeamSimulation team(
                {size, sharing.layout, sharing.domains, c.keeps_order != 0, access, 16 << 10},
                random);
            if (!serves(c, team, {count})) continue;
            drive(c, team, schedule, count, random);
            if (has_failure()) return;
          }
        }
      }
    }
  }
  if (!any) throw Skip{"a candidate for this operation"};
}

// Catches barriers that let a member out too early, signals that are counted across runs, and
// state machines that take RETRY for an error or rely on the order of deliveries.
void barriers() {
  run_operation(CWYL_BARRIER);
}
// Catches wrong trees for team sizes that are no power of two, roots other than 0, and pieces that
// do not fit into scratch.
void broadcasts() {
  run_operation(CWYL_BROADCAST);
}
void reductions_to_one() {
  run_operation(CWYL_REDUCE_ONE);
}
void reductions_to_all() {
  run_operation(CWYL_REDUCE_ALL);
}

}  // namespace

const std::vector<Case>& collective_cases() {
  static const std::vector<Case> cases = {
      {"Collective", "facts", kNoPeer, facts},
      {"Collective", "scores_are_pure", kNoPeer, scores_are_pure},
      {"Collective", "barriers", kNoPeer, barriers},
      {"Collective", "broadcasts", kNoPeer, broadcasts},
      {"Collective", "reductions_to_one", kNoPeer, reductions_to_one},
      {"Collective", "reductions_to_all", kNoPeer, reductions_to_all},
      {"Collective", "one_run_after_another", kNoPeer, one_run_after_another},
  };
  return cases;
}

}  // namespace causeway::conformance
