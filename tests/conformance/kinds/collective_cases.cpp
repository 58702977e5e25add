// Collective algorithms: facts, purity of scores, and whole runs on simulated teams.
#include <causeway/collective.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "diag/error.h"
#include "harness/endpoint.h"
#include "kinds.h"
#include "team_simulation.h"

namespace causeway::conformance {
namespace {

using Affine = TeamSimulation::Affine;
constexpr uint32_t kLargestTeam = 9;

const std::vector<cwyl_candidate>& candidates() {
  return collective_plugin().candidates;
}

std::string title(const cwyl_candidate& c) {
  static const char* const words[] = {"barrier", "broadcast", "reduce_one", "reduce_all"};
  return fmt::format("{} {}", c.operation < CWYL_OPERATIONS ? words[c.operation] : "?",
                     c.name != nullptr ? c.name : "?");
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
    EXPECT_LT(c.operation, CWYL_OPERATIONS) << title(c);
    EXPECT_TRUE(names.insert(title(c)).second) << title(c) << " is listed twice";
    EXPECT_LE(c.min_bytes, c.max_bytes) << title(c);
    EXPECT_LE(c.min_team, c.max_team) << title(c);
    EXPECT_NE(c.memkind_classes, 0u) << title(c) << " handles no kind of memory";
    EXPECT_LE(c.keeps_order, 1u) << title(c);
    EXPECT_NE(c.score, nullptr) << title(c);
    EXPECT_NE(c.start, nullptr) << title(c);
    EXPECT_NE(c.step, nullptr) << title(c);
  }
}

cwyl_shape shape(uint32_t operation, uint32_t team, uint64_t bytes, uint32_t nbrhds,
                 bool domains = false) {
  cwyl_shape s{};
  s.head = CWY_HEAD(cwyl_shape);
  s.operation = operation;
  s.team_size = team;
  s.nbrhd_count = nbrhds;
  s.memkind_classes = 1u << CWY_MEM_HOST;
  s.bytes = bytes;
  s.scratch_bytes = 4 * TeamSimulation::kScratch;
  s.element_bytes = operation >= CWYL_REDUCE_ONE ? sizeof(Affine) : 1;
  s.host_count = nbrhds;
  s.nbrhd_most = (team + nbrhds - 1) / nbrhds;
  s.domain_count = domains && team > nbrhds * 2 ? nbrhds * 2 : nbrhds;
  s.domain_most = domains ? std::min(2u, team) : s.nbrhd_most;
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

struct StateDeleter {
  void operator()(void* p) const { std::free(p); }
};

// One run of one candidate on every member.
class Run {
 public:
  Run(const cwyl_candidate& c, TeamSimulation& team, uint32_t size, cwyl_seq seq, uint64_t count,
      uint32_t root)
      : c_(c), team_(team), seq_(seq), count_(count), root_(root), members_(size) {
    for (uint32_t r = 0; r < size; ++r) prepare(r);
  }

  bool begun(uint32_t rank) const { return members_[rank].begun; }
  bool done(uint32_t rank) const { return members_[rank].done; }
  bool all_done() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.done; });
  }

  // start or one step of one member.
  void advance(uint32_t rank) {
    Member& m = members_[rank];
    if (m.done) return;
    const auto call = m.begun ? c_.step : c_.start;
    m.begun = true;
    const cwy_status status =
        call(team_.member(rank), team_.services(), seq_, &m.args, m.state.get());
    if (status == CWY_OK) {
      m.done = true;
      team_.ended(rank, seq_);
      const bool joins_all = c_.operation == CWYL_REDUCE_ALL && count_ != 0;
      if (c_.operation == CWYL_BARRIER || joins_all) expect_all_begun(rank);
      return;
    }
    if (status != CWY_INPROGRESS) {
      throw Error(status, "{}: rank {} answered {}", title(c_), rank, status_name(status));
    }
  }

  void judge() const {
    for (uint32_t r = 0; r < members_.size(); ++r) {
      const Member& m = members_[r];
      EXPECT_EQ(m.guard(), true) << title(c_) << ": bytes behind rank " << r << "'s dst changed";
      if (c_.operation == CWYL_BARRIER) continue;
      if (c_.operation == CWYL_REDUCE_ONE && r != root_) continue;
      for (uint64_t i = 0; i < count_; ++i) {
        ASSERT_EQ(m.dst[i], expected(i))
            << title(c_) << ": element " << i << " of " << count_ << " at rank " << r << " of "
            << members_.size() << ", root " << root_;
      }
      ASSERT_EQ(m.src, m.src_before) << title(c_) << ": the source of rank " << r << " changed";
    }
  }

 private:
  struct Member {
    std::vector<Affine> src, src_before, dst;
    std::unique_ptr<void, StateDeleter> state;
    cwyl_args args{};
    bool begun = false, done = false;
    bool guard() const { return dst.back() == Affine{0xe7e7e7e7u, 0xe7e7e7e7u}; }
  };

  static Affine element(uint32_t rank, uint64_t i) {
    return {static_cast<uint32_t>(2 * (rank * 31 + i) + 1), static_cast<uint32_t>(rank * 7919 + i)};
  }

  Affine expected(uint64_t i) const {
    if (c_.operation == CWYL_BROADCAST) return element(root_, i);
    Affine all = element(0, i);
    for (uint32_t r = 1; r < members_.size(); ++r) {
      all = team_.combine(all, element(r, i));
    }
    return all;
  }
  void prepare(uint32_t r) {
    Member& m = members_[r];
    for (uint64_t i = 0; i < count_; ++i) {
      m.src.push_back(element(r, i));
      m.dst.push_back({1, 2});
    }
    m.src_before = m.src;
    m.dst.push_back({0xe7e7e7e7u, 0xe7e7e7e7u});
    const size_t bytes = (std::max<size_t>(c_.state_bytes, 1) + 63) / 64 * 64;
    m.state.reset(std::aligned_alloc(64, bytes));
    std::memset(m.state.get(), 0, bytes);
    m.args.head = CWY_HEAD(cwyl_args);
    m.args.operation = c_.operation;
    m.args.flags = c_.keeps_order != 0 ? uint32_t{CWYL_NEED_ORDER} : 0;
    m.args.root = root_;
    const bool bytewise = c_.operation == CWYL_BROADCAST;
    m.args.element_bytes = c_.operation == CWYL_BARRIER ? 0 : bytewise ? 1 : sizeof(Affine);
    m.args.count = bytewise ? count_ * sizeof(Affine) : count_;
    m.args.dst = m.dst.data();
    m.args.src = m.src.data();
    if (c_.operation == CWYL_BARRIER) {
      m.args.dst = nullptr;
      m.args.src = nullptr;
    }
  }

  void expect_all_begun(uint32_t rank) const {
    for (uint32_t r = 0; r < members_.size(); ++r) {
      ASSERT_TRUE(members_[r].begun)
          << title(c_) << ": rank " << rank << " was done before rank " << r << " began";
    }
  }

  const cwyl_candidate& c_;
  TeamSimulation& team_;
  cwyl_seq seq_;
  uint64_t count_;
  uint32_t root_;
  std::vector<Member> members_;
};

enum class Schedule { round_robin, random, overlapping };

// Who shares what in a team.
struct Sharing {
  Layout layout;
  bool domains;
  uint32_t nbrhds(uint32_t size) const {
    return layout == Layout::one ? 1 : layout == Layout::alone ? size : std::min(size, 2u);
  }
};
constexpr Sharing kSharings[] = {{Layout::one, false},
                                 {Layout::one, true},
                                 {Layout::alternating, false},
                                 {Layout::alternating, true},
                                 {Layout::alone, false}};

// Drives one or two runs to their ends, or fails when nothing moves any more.
void drive(const cwyl_candidate& c, uint32_t size, Sharing sharing, Schedule schedule,
           uint64_t count, Random& random) {
  TeamSimulation team(size, sharing.layout, sharing.domains, c.keeps_order != 0, random);
  const uint32_t root = static_cast<uint32_t>(random.below(size));
  std::vector<std::unique_ptr<Run>> runs;
  const int n = schedule == Schedule::overlapping ? 2 : 1;
  for (int i = 0; i < n; ++i) {
    runs.push_back(std::make_unique<Run>(c, team, size, 100 + i, count, root));
  }
  constexpr uint32_t kPatience = 100'000;
  const auto finished = [&] {
    return std::all_of(runs.begin(), runs.end(), [](const auto& r) { return r->all_done(); });
  };
  for (uint32_t turn = 0; !finished(); ++turn) {
    if (turn == kPatience || testing::Test::HasFailure()) {
      ADD_FAILURE() << title(c) << ": stuck with " << size << " members";
      return;
    }
    const auto rank =
        static_cast<uint32_t>(schedule == Schedule::round_robin ? turn % size : random.below(size));
    // A member begins its runs in order, and may be a run ahead of the others.
    Run& first = *runs.front();
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
    if (c.operation != operation || (c.memkind_classes & (1u << CWY_MEM_HOST)) == 0) continue;
    any = true;
    for (uint32_t size = std::max(1u, c.min_team); size <= std::min(kLargestTeam, c.max_team);
         ++size) {
      for (const Sharing& sharing : kSharings) {
        for (const Schedule schedule :
             {Schedule::round_robin, Schedule::random, Schedule::overlapping}) {
          for (const uint64_t count : {0u, 1u, 5u, 257u, 5000u}) {
            const uint64_t bytes = count * sizeof(Affine);
            const bool barrier = operation == CWYL_BARRIER;
            if (barrier ? count != 0 : bytes < c.min_bytes || bytes > c.max_bytes) continue;
            const cwyl_shape s =
                shape(operation, size, bytes, sharing.nbrhds(size), sharing.domains);
            if (c.score(&s) < 0) continue;  // refused for this shape
            drive(c, size, sharing, schedule, count, random);
            if (testing::Test::HasFailure()) return;
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
  };
  return cases;
}

}  // namespace causeway::conformance
