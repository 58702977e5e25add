// Many runs one after another on one team, while one member at a time stands still at whatever
// step it has come to, and the others go as far ahead as they can.
#include <causeway/collective.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "harness/clock.h"
#include "harness/expect.h"
#include "kinds.h"
#include "simulated_run.h"
#include "team_simulation.h"

namespace causeway::conformance {
namespace {

constexpr uint32_t kRuns = 10;  // more than twice as many as there are frames
// Turns in which nothing moves: more than a member stands still; and turns at all.
constexpr uint32_t kPatience = 20'000, kMostTurns = 5'000'000;

// The runs of one storm: every second one is of the candidate that is tried, the others of
// any that the plugin has, mostly short, for those end on a root without the others.
class Storm {
 public:
  Storm(const cwyl_candidate& tried, TeamSimulation& team, Random& random)
      : tried_(tried), team_(team), random_(random), root_(draw(team.size())) {
    for (uint32_t i = 0; i < kRuns; ++i) add();
  }

  bool is_empty() const { return runs_.empty(); }

  void blow() {
    const auto size = team_.size();
    std::vector<size_t> next(size);  // the run that a member begins next
    std::vector<size_t> window(size);
    for (size_t& w : window) w = 1 + draw(4);
    uint32_t still = 0, until = 0;
    uint32_t moved = 0;  // turn of the last move
    for (uint32_t turn = 0; !finished(); ++turn) {
      const uint64_t moves = team_.moves();
      ASSERT_LT(turn - moved, kPatience) << describe() << ": stuck";
      ASSERT_LT(turn, kMostTurns) << describe() << ": no end";
      if (turn >= until && random_.below(size * 4) == 0) {
        static constexpr uint32_t kLengths[] = {4, 40, 400};
        still = draw(size);
        until = turn + size * kLengths[draw(3)];
      }
      const uint32_t rank = draw(size);
      if (rank != still || turn >= until) step(rank, &next[rank], window[rank]);
      if (random_.below(2) == 0) team_.deliver(false);
      if (team_.moves() != moves) moved = turn;
      ASSERT_EQ(team_.breach(), "") << describe();
      if (has_failure()) return;
    }
    team_.deliver(true);
    ASSERT_EQ(team_.breach(), "") << describe();
    for (const auto& run : runs_) run->judge();
  }

 private:
  uint32_t draw(uint64_t bound) { return static_cast<uint32_t>(random_.below(bound)); }
  std::string describe() const { return fmt::format("storm of {}", title(tried_)); }
  bool finished() const {
    return std::all_of(runs_.begin(), runs_.end(), [](const auto& r) { return r->all_done(); });
  }

  // Elements of 1,200 bytes are more than one put takes.
  Call any_call(uint32_t operation, bool is_short) {
    static constexpr uint64_t kCounts[] = {1, 5, 60, 257, 600, 1300, 5000};
    constexpr uint64_t kMost = 25'000;  // stretches long enough to go straight, and more chunks
    Call call{};
    if (operation != CWYL_BARRIER) call.count = kCounts[draw(is_short ? 3 : std::size(kCounts))];
    const bool may_be_long = operation != CWYL_BARRIER && !is_short && team_.has_much_scratch();
    if (may_be_long && random_.below(16) == 0) call.count = kMost;
    if (operation >= CWYL_REDUCE_ONE && random_.below(6) == 0) {
      call.width = 150;
      call.count = 1 + draw(7);
    }
    call.root = random_.below(4) != 0 ? root_ : draw(team_.size());
    call.in_place = random_.below(2) != 0;
    return call;
  }

  void add() {
    const auto& all = collective_plugin().candidates;
    const bool mine = runs_.size() % 2 == 0;
    for (uint32_t attempt = 0; attempt < 20; ++attempt) {
      const cwyl_candidate& c = mine ? tried_ : all[draw(all.size())];
      const Call call = any_call(c.operation, !mine && random_.below(4) != 0);
      if (!serves(c, team_, call)) continue;
      runs_.push_back(std::make_unique<SimulatedRun>(c, team_, runs_.size() + 1, call));
      return;
    }
  }

  // A member's runs go on in their order, and it begins one more if it may.
  void step(uint32_t rank, size_t* next, size_t window) {
    size_t open = 0;
    for (size_t i = 0; i < *next; ++i) {
      if (runs_[i]->done(rank)) continue;
      runs_[i]->advance(rank);
      ++open;
    }
    if (*next == runs_.size() || open >= window) return;
    if (team_.may_begin(rank, runs_[*next]->seq())) runs_[(*next)++]->advance(rank);
  }

  const cwyl_candidate& tried_;
  TeamSimulation& team_;
  Random& random_;
  uint32_t root_;  // of most runs: their root goes ahead then
  std::vector<std::unique_ptr<SimulatedRun>> runs_;
};

}  // namespace

// Catches algorithms whose members end while others still read their memory, or use a piece of
// scratch that is another run's by then; ones that read what no run of theirs has written; ones
// that cannot wait for a member that is several runs behind; and elements that no put can carry.
void one_run_after_another() {
  Random random(kind_settings().seed);
  constexpr uint32_t kLargest = 9, kTimes = 2;
  constexpr uint64_t kScratches[] = {TeamSimulation::kLeastScratch, 16 << 10,
                                     TeamSimulation::kMuchScratch};
  bool any = false;
  for (const cwyl_candidate& c : collective_plugin().candidates) {
    for (const Sharing& sharing : kSharings) {
      for (uint32_t i = 0; i < kTimes * std::size(kAccesses); ++i) {
        const Access access = kAccesses[i / kTimes];
        const auto size = static_cast<uint32_t>(random.between(2, kLargest));
        const uint64_t scratch = kScratches[random.below(std::size(kScratches))];
        const bool ordered = random.below(2) != 0;
        TeamSimulation team({size, sharing.layout, sharing.domains, ordered, access, scratch},
                            random);
        Storm storm(c, team, random);
        if (storm.is_empty()) continue;
        any = true;
        storm.blow();
        if (has_failure()) return;
      }
    }
  }
  if (!any) throw Skip{"a candidate that takes a team of several members"};
}

}  // namespace causeway::conformance
