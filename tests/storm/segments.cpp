// A second endpoint, whose segment is replaced now and then, and a team of such endpoints:
// collectives with buffers in a segment that is bound, and perhaps published, or not yet.
#include <gasnetex.h>

#include <cstdlib>
#include <cstring>

#include "collectives.h"
#include "family.h"
#include "world.h"

namespace storm {
namespace {

constexpr unsigned kCount = 16;
constexpr size_t kEach = size_t{96} << 10;

class SegmentChanges : public FamilyPart {
 public:
  void begin() override {
    const Step first{0, Family::segment, mix(world().options.seed, 29)};
    if (gex_EP_Create(&ep_, world().client, GEX_EP_CAPABILITY_ALL, 0) != GASNET_OK)
      fail(first, "no second endpoint");
    bind(first);
    publish(first);
    team_.members.clear();
    std::vector<gex_EP_Location_t> places;
    for (gex_Rank_t r = 0; r < world().size; ++r) {
      team_.members.push_back(r);
      places.push_back({r, gex_EP_QueryIndex(ep_)});
    }
    gex_TM_Create(&team_.tm, 1, world().tm, places.data(), places.size(), nullptr, 0,
                  GEX_FLAG_TM_NO_SCRATCH);
  }

  void run(const Step& step, Flights& flights) override {
    Random common = step.common();
    if (!common.chance(25)) return begin_collective(step, team_, flights, arena_);
    // Nobody may use what goes: here nobody does, and after the barrier nobody does anywhere.
    stand_at(step, "replaces a segment");
    flights.settle_team(team_.tm);
    barrier();
    gex_Segment_Destroy(segment_, 0);
    std::free(memory_);
    memory_ = nullptr;
    bind(step);
    if (common.chance(50)) publish(step);
  }

  void end() override {
    gex_TM_Destroy(team_.tm, nullptr, 0);
    barrier();
    gex_Segment_Destroy(segment_, 0);
    std::free(memory_);
  }

 private:
  // Memory of the library or of the client, as each rank likes, seldom where the old one was.
  void bind(const Step& step) {
    Random whim = step.whim({world().rank, 0});
    const size_t bytes = kCount * kEach + (whim.below(4) << 20);
    if (whim.chance(50)) {
      memory_ = std::aligned_alloc(GASNET_PAGESIZE, bytes);
      if (!memory_) fail(step, "no memory for a segment of %zu bytes", bytes);
    }
    if (gex_Segment_Create(&segment_, world().client, memory_, bytes, GEX_MK_HOST, 0) != GASNET_OK)
      fail(step, "no segment of %zu bytes", bytes);
    if (gex_EP_BindSegment(ep_, segment_, 0) != GASNET_OK) fail(step, "a segment is not bound");
    arena_.rebase(static_cast<std::byte*>(gex_Segment_QueryAddr(segment_)) + (whim.below(3) << 16));
  }
  void publish(const Step& step) {
    if (gex_EP_PublishBoundSegment(world().tm, &ep_, 1, 0) != GASNET_OK)
      fail(step, "a segment is not published");
  }

  gex_EP_t ep_ = GEX_EP_INVALID;
  gex_Segment_t segment_ = GEX_SEGMENT_INVALID;
  void* memory_ = nullptr;
  Team team_;
  Arena arena_{nullptr, kCount - 2, kEach};
};

}  // namespace

std::unique_ptr<FamilyPart> make_segment_changes() {
  return std::make_unique<SegmentChanges>();
}

}  // namespace storm
