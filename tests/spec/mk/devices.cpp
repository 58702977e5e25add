#include "devices.h"

#include <cstring>

using spec::job;

namespace mk {
namespace {

Devices make() {
  Devices d{};
  Access& device = access();
  const auto count = static_cast<gex_Rank_t>(device.devices());
  d.ep[0] = job().ep;
  d.segment[0] = job().segment;
  for (unsigned i = 0; i < 2; ++i) {
    d.device[i] = static_cast<int>((job().rank + i) % count);
    const gex_MK_Create_args_t args = device.args(d.device[i]);
    CHECK_EQ(gex_MK_Create(&d.kind[i], job().client, &args, 0), GASNET_OK);
    void* const memory = i == 0 ? nullptr : device.alloc(d.device[i], kBytes);
    CHECK_EQ(gex_Segment_Create(&d.segment[i + 1], job().client, memory, kBytes, d.kind[i], 0),
             GASNET_OK);
    CHECK_EQ(gex_EP_Create(&d.ep[i + 1], job().client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
    CHECK_EQ(gex_EP_BindSegment(d.ep[i + 1], d.segment[i + 1], 0), GASNET_OK);
  }
  CHECK_EQ(gex_EP_PublishBoundSegment(job().tm, d.ep + 1, 2, 0), GASNET_OK);
  return d;
}

std::byte* own(unsigned place, size_t offset) {
  return static_cast<std::byte*>(gex_Segment_QueryAddr(devices().segment[place])) + offset;
}

}  // namespace

const Devices& devices() {
  static const Devices instance = make();
  return instance;
}

std::byte* at(gex_Rank_t rank, unsigned place, size_t offset) {
  void* owner = nullptr;
  if (gex_Segment_QueryBound(pair(0, place), rank, &owner, nullptr, nullptr) != 0) {
    FAIL("a segment is not known");
  }
  return static_cast<std::byte*>(owner) + offset;
}

gex_TM_t pair(unsigned from, unsigned to) {
  return gex_TM_Pair(devices().ep[from], gex_EP_QueryIndex(devices().ep[to]));
}

void write(unsigned place, size_t offset, const void* src, size_t bytes) {
  if (place == 0) {
    std::memcpy(own(0, offset), src, bytes);
  } else {
    access().copy(devices().device[place - 1], own(place, offset), src, bytes);
  }
}

void read(unsigned place, size_t offset, void* dst, size_t bytes) {
  if (place == 0) {
    std::memcpy(dst, own(0, offset), bytes);
  } else {
    access().copy(devices().device[place - 1], dst, own(place, offset), bytes);
  }
}

void fill(unsigned place, size_t offset, size_t bytes, uint64_t seed) {
  std::vector<std::byte> data(bytes);
  spec::fill(data.data(), bytes, seed);
  if (bytes != 0) write(place, offset, data.data(), bytes);
}

size_t wrong(unsigned place, size_t offset, size_t bytes, uint64_t seed) {
  std::vector<std::byte> data(bytes);
  if (bytes != 0) read(place, offset, data.data(), bytes);
  return spec::first_difference(data.data(), bytes, seed);
}

}  // namespace mk
