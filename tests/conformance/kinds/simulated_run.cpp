#include "simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "harness/expect.h"

namespace causeway::conformance {
namespace {

using Affine = TeamSimulation::Affine;
constexpr Affine kGuard{0xe7e7e7e7u, 0xe7e7e7e7u};
constexpr Affine kUntouched{1, 2}, kUsedAgain{0xdddddddd, 0x77777777};

bool is_reduction(const cwyl_candidate& c) {
  return c.operation == CWYL_REDUCE_ONE || c.operation == CWYL_REDUCE_ALL;
}

}  // namespace

std::string title(const cwyl_candidate& c) {
  static const char* const words[] = {"barrier", "broadcast", "reduce_one", "reduce_all"};
  return fmt::format("{} {}", c.operation < CWYL_OPERATIONS ? words[c.operation] : "?",
                     c.name != nullptr ? c.name : "?");
}

bool serves(const cwyl_candidate& c, const TeamSimulation& team, const Call& call) {
  const bool barrier = c.operation == CWYL_BARRIER;
  if (barrier && call.count != 0) return false;
  const uint64_t element = call.width * sizeof(Affine), bytes = call.count * element;
  if (!barrier && (bytes < c.min_bytes || bytes > c.max_bytes)) return false;
  if (team.size() < c.min_team || team.size() > c.max_team) return false;
  const cwyl_shape s = team.shape(c.operation, bytes, is_reduction(c) ? element : 1);
  if ((s.flags & CWYL_NEED_ORDER) != 0 && is_reduction(c) && c.keeps_order == 0) return false;
  return c.score(&s) >= 0;
}

void SimulatedRun::StateDeleter::operator()(void* p) const {
  std::free(p);
}

SimulatedRun::SimulatedRun(const cwyl_candidate& c, TeamSimulation& team, cwyl_seq seq,
                           const Call& call)
    : c_(c),
      team_(team),
      seq_(seq),
      call_(call),
      maps_(call.count * call.width),
      members_(team.size()) {
  team.set_width(seq, call.width);
  for (uint32_t r = 0; r < team.size(); ++r) prepare(r);
}

bool SimulatedRun::all_done() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.done; });
}

Affine SimulatedRun::element(uint32_t rank, uint64_t i) const {
  const uint64_t n = i + seq_ * 131;
  return {static_cast<uint32_t>(2 * (rank * 31 + n) + 1), static_cast<uint32_t>(rank * 7919 + n)};
}

Affine SimulatedRun::expected(uint64_t i) const {
  if (c_.operation == CWYL_BROADCAST) return element(call_.root, i);
  Affine all = element(0, i);
  for (uint32_t r = 1; r < members_.size(); ++r) all = team_.combine(all, element(r, i));
  return all;
}

bool SimulatedRun::has_result(uint32_t rank) const {
  return c_.operation != CWYL_REDUCE_ONE || rank == call_.root;
}
bool SimulatedRun::is_in_place(uint32_t rank) const {
  return call_.in_place && has_result(rank);
}

void SimulatedRun::prepare(uint32_t r) {
  Member& m = members_[r];
  m.dst.assign(maps_ + 1, kUntouched);
  m.dst.back() = kGuard;
  std::vector<Affine>& src = is_in_place(r) ? m.dst : m.src;
  src.resize(std::max<size_t>(src.size(), maps_));
  for (uint64_t i = 0; i < maps_; ++i) src[i] = element(r, i);
  const size_t bytes = (std::max<size_t>(c_.state_bytes, 1) + 63) / 64 * 64;
  m.state.reset(std::aligned_alloc(64, bytes));
  std::memset(m.state.get(), 0, bytes);
  m.args.head = CWY_HEAD(cwyl_args);
  m.args.operation = c_.operation;
  m.args.flags = team_.shape(c_.operation, 0, 1).flags;
  m.args.root = call_.root;
  if (c_.operation == CWYL_BARRIER) return;
  const bool bytewise = c_.operation == CWYL_BROADCAST;
  m.args.element_bytes = bytewise ? 1 : call_.width * sizeof(Affine);
  m.args.count = bytewise ? maps_ * sizeof(Affine) : call_.count;
  m.args.dst = m.dst.data();
  m.args.src = src.data();
}

void SimulatedRun::advance(uint32_t rank) {
  Member& m = members_[rank];
  if (m.done) return;
  const auto call = m.begun ? c_.step : c_.start;
  m.begun = true;
  const cwy_status status =
      call(team_.member(rank), team_.services(), seq_, &m.args, m.state.get());
  if (status == CWY_OK) return finish(rank);
  if (status != CWY_INPROGRESS && team_.breach().empty()) {
    throw Error(status, "{}: rank {} answered {}", title(c_), rank, status_name(status));
  }
}

std::string SimulatedRun::where(uint32_t rank, uint64_t i) const {
  return fmt::format("{}, run {}: map {} of {} ({} in an element) at rank {} of {}, root {}",
                     title(c_), seq_, i, maps_, call_.width, rank, members_.size(), call_.root);
}

void SimulatedRun::finish(uint32_t rank) {
  Member& m = members_[rank];
  m.done = true;
  const bool joins_all = c_.operation == CWYL_REDUCE_ALL && maps_ != 0;
  if (c_.operation == CWYL_BARRIER || joins_all) expect_all_begun(rank);
  if (c_.operation != CWYL_BARRIER) {
    for (uint64_t i = 0; i < maps_; ++i) {
      ASSERT_EQ(m.dst[i], has_result(rank) ? expected(i) : kUntouched) << where(rank, i);
      if (is_in_place(rank)) continue;
      ASSERT_EQ(m.src[i], element(rank, i)) << "source: " << where(rank, i);
    }
    std::fill(m.src.begin(), m.src.end(), kUsedAgain);
    std::fill(m.dst.begin(), m.dst.end() - 1, kUsedAgain);
  }
  team_.ended(rank, seq_);
}

void SimulatedRun::judge() const {
  for (uint32_t r = 0; r < members_.size(); ++r) {
    const Member& m = members_[r];
    EXPECT_EQ(m.dst.back(), kGuard) << title(c_) << ": bytes behind rank " << r << "'s dst changed";
    if (c_.operation == CWYL_BARRIER) continue;
    const auto at = std::find_if(m.dst.begin(), m.dst.end() - 1,
                                 [](const Affine& a) { return !(a == kUsedAgain); });
    EXPECT_EQ(at, m.dst.end() - 1)
        << "written after that member was done: "
        << where(r, static_cast<uint64_t>(std::distance(m.dst.begin(), at)));
  }
}

void SimulatedRun::expect_all_begun(uint32_t rank) const {
  for (uint32_t r = 0; r < members_.size(); ++r) {
    ASSERT_TRUE(members_[r].begun)
        << title(c_) << ": rank " << rank << " was done before rank " << r << " began";
  }
}

}  // namespace causeway::conformance
