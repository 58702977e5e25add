// Collectives of GASNet-EX, several under way on several teams, begun in the script's order by all
// members and completed in an order of each member's own.
#include <gasnet_coll.h>

#include <cstring>

#include "collectives.h"
#include "family.h"
#include "reduction.h"
#include "teams.h"
#include "world.h"

namespace storm {
namespace {

// Above what one frame of scratch carries in one piece, seldom.
constexpr size_t kMostBytes = size_t{64} << 10, kLong = size_t{300} << 10;

// The common part of all collectives: an event, two buffers and a result that may be expected.
class CollFlight : public TeamFlight {
 public:
  CollFlight(const Step& step, const Team& team)
      : TeamFlight(step, team.tm), rank_(team.rank_of(world().rank)) {}

 protected:
  gex_Rank_t rank_;
};

class BarrierFlight : public CollFlight {
 public:
  BarrierFlight(const Step& step, const Team& team) : CollFlight(step, team) {
    event_ = gex_Coll_BarrierNB(tm_, 0);
  }
  const char* name() const override { return "waits for a barrier"; }

 private:
  void check() override {}
};

class BroadcastFlight : public CollFlight {
 public:
  BroadcastFlight(const Step& step, const Team& team, Random common, Random whim, Arena& arena)
      : CollFlight(step, team), root_(static_cast<gex_Rank_t>(common.below(team.size()))) {
    const size_t bytes = common.size(common.chance(5) ? kLong : kMostBytes);
    const size_t align = whim.one_of<size_t>({1, 8, 64});
    stamp_ = {step.index, Actor{team.members[root_], 0}.number(), 0};
    dst_ = Buffer(bytes, align, whim, arena);
    const void* src = nullptr;
    if (rank_ == root_) {
      in_place_ = whim.chance(50);
      if (!in_place_) src_ = Buffer(bytes, align, whim, arena);
      fill(in_place_ ? dst_.data() : src_.data(), bytes, stamp_);
      src = in_place_ ? dst_.data() : src_.data();
    }
    event_ = gex_Coll_BroadcastNB(tm_, root_, dst_.data(), src, bytes, 0);
  }
  const char* name() const override { return "waits for a broadcast"; }

 private:
  void check() override {
    char what[96];
    std::snprintf(what, sizeof what, "broadcast by rank %u of %u, received %s", root_,
                  gex_TM_QuerySize(tm_), dst_.where());
    expect(step_, what, dst_.data(), 0, dst_.size(), stamp_);
    dst_.check_borders(step_, what);
  }
  gex_Rank_t root_;
  Stamp stamp_;
  bool in_place_ = false;
  Buffer src_, dst_;
};

class ReduceFlight : public CollFlight {
 public:
  ReduceFlight(const Step& step, const Team& team, Random common, Random whim, bool to_all,
               Arena& arena)
      : CollFlight(step, team),
        to_all_(to_all),
        root_(static_cast<gex_Rank_t>(common.below(team.size()))),
        reduction_(random_reduction(common, common.chance(5) ? kLong : kMostBytes)) {
    // All members or none where all have a result; the root's own choice otherwise.
    const bool all_in_place = common.chance(50);
    in_place_ = to_all ? all_in_place : rank_ == root_ && whim.chance(50);
    has_result_ = to_all || rank_ == root_;
    for (const gex_Rank_t member : team.members) writers_.push_back(Actor{member, 0}.number());
    stamp_ = {step.index, writers_[rank_], 0};
    src_ = Buffer(reduction_.bytes(), 8, whim, arena);
    reduction_.fill(src_.data(), stamp_);
    if (has_result_ && !in_place_) dst_ = Buffer(reduction_.bytes(), 8, whim, arena);
    const Reduction& r = reduction_;
    void* const dst = !has_result_ ? nullptr : in_place_ ? src_.data() : dst_.data();
    event_ = to_all ? gex_Coll_ReduceToAllNB(tm_, dst, src_.data(), r.dt, r.element, r.count, r.op,
                                             r.user(), r.cdata(), 0)
                    : gex_Coll_ReduceToOneNB(tm_, root_, dst, src_.data(), r.dt, r.element, r.count,
                                             r.op, r.user(), r.cdata(), 0);
  }
  const char* name() const override {
    return to_all_ ? "waits for a reduction to all" : "waits for a reduction to one";
  }

 private:
  void check() override {
    src_.check_borders(step_, "operand of a reduction");
    if (!has_result_) return;
    const Buffer& result = in_place_ ? src_ : dst_;
    result.check_borders(step_, "result of a reduction");
    const std::vector<std::byte> want = reduction_.combine(stamp_, writers_);
    if (std::memcmp(result.data(), want.data(), want.size()) == 0) return;
    size_t at = 0;
    while (result.data()[at] == want[at]) ++at;
    fail(step_,
         "reduction to %s of %zu elements of %zu bytes (type %x, operation %x) among %zu%s, %s: "
         "byte %zu is 0x%02x, expected 0x%02x",
         to_all_ ? "all" : "one", reduction_.count, reduction_.element, reduction_.dt,
         reduction_.op, writers_.size(), in_place_ ? " in place" : "", result.where(), at,
         static_cast<unsigned>(result.data()[at]), static_cast<unsigned>(want[at]));
  }
  bool to_all_;
  gex_Rank_t root_;
  Reduction reduction_;
  bool in_place_ = false, has_result_ = false;
  std::vector<uint8_t> writers_;
  Stamp stamp_;
  Buffer src_, dst_;
};

class Collectives : public FamilyPart {
 public:
  void run(const Step& step, Flights& flights) override {
    Random common = step.common();
    const Team& team = teams()[common.below(teams().size())];
    if (team.here()) begin_collective(step, team, flights, own_slots());
  }
};

}  // namespace

void begin_collective(const Step& step, const Team& team, Flights& flights, Arena& arena) {
  Random common(mix(step.key, 4));
  const Random whim = step.whim(flights.actor());
  const size_t kind = common.below(10);
  if (kind == 0) {
    flights.add(std::make_unique<BarrierFlight>(step, team));
  } else if (kind < 6) {
    flights.add(std::make_unique<BroadcastFlight>(step, team, common, whim, arena));
  } else {
    flights.add(std::make_unique<ReduceFlight>(step, team, common, whim, kind < 8, arena));
  }
}

std::unique_ptr<FamilyPart> make_collectives() {
  return std::make_unique<Collectives>();
}

}  // namespace storm
