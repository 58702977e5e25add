// Collectives on memory of a device (a stand-in of tests/standins, in the tests), short ones above
// all, and transfers between it and the host's memory.
#include <gasnet_coll.h>
#include <gasnet_mk.h>

#include <algorithm>
#include <cstring>

#include "bench/raw/device_access.h"
#include "buffer.h"
#include "family.h"
#include "reduction.h"
#include "teams.h"
#include "world.h"

namespace storm {
namespace {

constexpr unsigned kCount = 40;
constexpr size_t kEach = size_t{40} << 10;

// A slot of the device's memory, which the processor cannot touch.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Arena& arena, int device) : arena_(&arena), device_(device), slot_(arena.take()) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(device_, other.device_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~DeviceBuffer() {
    if (slot_ >= 0) arena_->give(slot_);
  }
  bool here() const { return slot_ >= 0; }
  std::byte* data() const { return arena_->at(slot_); }
  void write(const void* from, size_t bytes) {
    if (bytes != 0) mk::access().copy(device_, data(), from, bytes);
  }
  std::vector<std::byte> read(size_t bytes) const {
    std::vector<std::byte> out(bytes);
    if (bytes != 0) mk::access().copy(device_, out.data(), data(), bytes);
    return out;
  }

 private:
  Arena* arena_ = nullptr;
  int device_ = 0;
  int slot_ = -1;
};

size_t device_size(Random& random) {
  return random.chance(70) ? random.within(1, random.chance(70) ? 120 : 600) : random.size(kEach);
}

class DeviceFlight : public TeamFlight {
 public:
  using TeamFlight::TeamFlight;
  const char* name() const override { return "waits for a collective on device memory"; }

 protected:
  void compare(const char* what, const DeviceBuffer& buffer, const std::vector<std::byte>& want) {
    const std::vector<std::byte> have = buffer.read(want.size());
    if (have == want) return;
    size_t at = 0;
    while (have[at] == want[at]) ++at;
    fail(step_, "%s of %zu bytes on a device, %s: byte %zu is %s, expected %s", what, want.size(),
         fast_ ? "complete at the call" : "completed later", at,
         describe(have.data(), have.size(), at).c_str(),
         describe(want.data(), want.size(), at).c_str());
  }
  bool fast_ = false;
};

class DeviceBroadcast : public DeviceFlight {
 public:
  DeviceBroadcast(const Step& step, gex_TM_t tm, Random common, DeviceBuffer buffer)
      : DeviceFlight(step, tm), buffer_(std::move(buffer)) {
    const auto root = static_cast<gex_Rank_t>(common.below(world().size));
    want_.resize(device_size(common));
    std::vector<std::byte> before(want_.size(), std::byte{kFresh});
    buffer_.write(before.data(), before.size());
    fill(want_.data(), want_.size(), stamp_of(step, {root, 0}, 4));
    if (root == world().rank) buffer_.write(want_.data(), want_.size());
    event_ = gex_Coll_BroadcastNB(tm, root, buffer_.data(), buffer_.data(), want_.size(), 0);
    fast_ = event_ == GEX_EVENT_INVALID;
  }

 private:
  void check() override { compare("broadcast", buffer_, want_); }
  DeviceBuffer buffer_;
  std::vector<std::byte> want_;
};

class DeviceReduction : public DeviceFlight {
 public:
  DeviceReduction(const Step& step, gex_TM_t tm, Random common, DeviceBuffer src, DeviceBuffer dst)
      : DeviceFlight(step, tm), src_(std::move(src)), dst_(std::move(dst)) {
    const size_t bytes = std::max<size_t>(device_size(common), 1);
    do reduction_ = random_reduction(common, bytes);
    while (reduction_.dt == GEX_DT_USER || reduction_.bytes() > kEach);
    const bool all = common.chance(60);
    const auto root = static_cast<gex_Rank_t>(common.below(world().size));
    has_result_ = all || root == world().rank;
    stamp_ = stamp_of(step, {world().rank, 0}, 4);
    std::vector<std::byte> own(reduction_.bytes()), before(own.size(), std::byte{kFresh});
    reduction_.fill(own.data(), stamp_);
    src_.write(own.data(), own.size());
    dst_.write(before.data(), before.size());
    const Reduction& r = reduction_;
    event_ = all ? gex_Coll_ReduceToAllNB(tm, dst_.data(), src_.data(), r.dt, r.element, r.count,
                                          r.op, nullptr, nullptr, 0)
                 : gex_Coll_ReduceToOneNB(tm, root, dst_.data(), src_.data(), r.dt, r.element,
                                          r.count, r.op, nullptr, nullptr, 0);
    fast_ = event_ == GEX_EVENT_INVALID;
  }

 private:
  void check() override {
    if (!has_result_) return;
    std::vector<uint8_t> writers;
    for (gex_Rank_t r = 0; r < world().size; ++r) writers.push_back(Actor{r, 0}.number());
    compare("reduction", dst_, reduction_.combine(stamp_, writers));
  }
  DeviceBuffer src_, dst_;
  Reduction reduction_{};
  bool has_result_ = false;
  Stamp stamp_;
};

// From the host here to the device of a peer and back again, through a slot that is this rank's
// there.
void there_and_back(const Step& step, gex_EP_t device_ep, std::byte* there, gex_Rank_t target) {
  Random whim = step.whim({world().rank, 0});
  const size_t bytes = whim.size(kEach);
  Buffer out(bytes, 1, whim), back(bytes, 1, whim);
  const Stamp stamp = stamp_of(step, {world().rank, 0}, 5);
  fill(out.data(), bytes, stamp);
  const gex_TM_t pair = gex_TM_Pair(world().ep, gex_EP_QueryIndex(device_ep));
  if (whim.chance(50)) {
    gex_RMA_PutBlocking(pair, target, there, out.data(), bytes, 0);
  } else {
    gex_Event_t local = GEX_EVENT_INVALID;
    const gex_Event_t put = gex_RMA_PutNB(pair, target, there, out.data(), bytes, &local, 0);
    gex_Event_Wait(local);
    std::memset(out.data(), kTaken, bytes);
    gex_Event_Wait(put);
  }
  gex_Event_Wait(gex_RMA_GetNB(pair, back.data(), target, there, bytes, 0));
  expect(step, "bytes that went to a device and back", back.data(), 0, bytes, stamp);
}

class Devices : public FamilyPart {
 public:
  void begin() override {
    const Step first{0, Family::device, 0};
    device_ = static_cast<int>(world().rank) % mk::access().devices();
    const gex_MK_Create_args_t args = mk::access().args(device_);
    gex_MK_t kind;
    const size_t bytes = (kCount + world().size) * kEach;
    if (gex_MK_Create(&kind, world().client, &args, 0) != GASNET_OK ||
        gex_Segment_Create(&segment_, world().client, nullptr, bytes, kind, 0) != GASNET_OK ||
        gex_EP_Create(&ep_, world().client, GEX_EP_CAPABILITY_ALL, 0) != GASNET_OK ||
        gex_EP_BindSegment(ep_, segment_, 0) != GASNET_OK ||
        gex_EP_PublishBoundSegment(world().tm, &ep_, 1, 0) != GASNET_OK)
      fail(first, "no segment of device memory");
    arena_.rebase(static_cast<std::byte*>(gex_Segment_QueryAddr(segment_)));
    std::vector<gex_EP_Location_t> places;
    for (gex_Rank_t r = 0; r < world().size; ++r) places.push_back({r, gex_EP_QueryIndex(ep_)});
    gex_TM_Create(&tm_, 1, world().tm, places.data(), places.size(), nullptr, 0,
                  GEX_FLAG_TM_NO_SCRATCH);
    for (gex_Rank_t r = 0; r < world().size; ++r) {
      void* owner = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm_, r, &owner, nullptr, nullptr, 0));
      peers_.push_back(static_cast<std::byte*>(owner));
    }
  }

  void run(const Step& step, Flights& flights) override {
    Random common = step.common();
    const size_t kind = common.below(4);
    if (kind == 3) {
      const auto target =
          static_cast<gex_Rank_t>((world().rank + common.below(world().size)) % world().size);
      stand_at(step, "moves bytes to a device and back");
      return there_and_back(step, ep_, peers_[target] + (kCount + world().rank) * kEach, target);
    }
    DeviceBuffer src(arena_, device_), dst(arena_, device_);
    if (!src.here() || !dst.here()) fail(step, "more is under way than there are slots");
    if (kind == 0) {
      flights.add(std::make_unique<DeviceBroadcast>(step, tm_, common, std::move(src)));
    } else {
      flights.add(
          std::make_unique<DeviceReduction>(step, tm_, common, std::move(src), std::move(dst)));
    }
  }

 private:
  int device_ = 0;
  gex_EP_t ep_ = GEX_EP_INVALID;
  gex_Segment_t segment_ = GEX_SEGMENT_INVALID;
  gex_TM_t tm_ = GEX_TM_INVALID;
  std::vector<std::byte*> peers_;
  Arena arena_{nullptr, kCount, kEach};
};

}  // namespace

std::unique_ptr<FamilyPart> make_devices() {
  return std::make_unique<Devices>();
}

}  // namespace storm
