// Host memory that is page-locked in part: by the library, which page-locks segments, or by the
// program. Drivers refuse copies that leave a page-locked range, or reach into another one, and a
// transfer may.
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "devices.h"

using mk::at;
using mk::pair;
using spec::job;

namespace {

constexpr size_t kMost = 640 << 10;  // of a transfer

// Ordinary memory, in no segment yet.
class Area {
 public:
  Area() {
    void* const p =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
    CHECK(base_ != nullptr);
  }
  ~Area() { ::munmap(base_, kBytes); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  std::byte* operator+(size_t offset) const { return base_ + offset; }
  static constexpr size_t kBytes = 2 << 20;

 private:
  std::byte* base_;
};

class HostSegment {
 public:
  HostSegment(std::byte* base, size_t bytes) {
    CHECK_EQ(gex_Segment_Create(&segment_, job().client, base, bytes, GEX_MK_HOST, 0), GASNET_OK);
  }
  ~HostSegment() { gex_Segment_Destroy(segment_, 0); }
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

 private:
  gex_Segment_t segment_ = GEX_SEGMENT_INVALID;
};

// There and back, to the neighbor's device.
void send(std::byte* memory, size_t bytes, uint64_t seed) {
  const gex_Rank_t peer = job().peer();
  spec::fill(memory, bytes, seed);
  CHECK_EQ(gex_RMA_PutBlocking(pair(0, 1), peer, at(peer, 1), memory, bytes, 0), 0);
  std::fill_n(memory, bytes, std::byte{0});
  CHECK_EQ(gex_RMA_GetBlocking(pair(0, 1), memory, peer, at(peer, 1), bytes, 0), 0);
  CHECK_PATTERN(memory, bytes, seed);
}

}  // namespace

// Catches a copy of what is page-locked and of what is beside it in one.
SPEC_CASE(mk_borders, end_of_segment) {
  mk::devices();
  const Area area;
  const HostSegment segment(area + 4096, 512 << 10);
  send(area + 4096, 256 << 10, 1);              // page-locks it
  send(area + (512 << 10) - 70000, 200000, 2);  // across its end
  send(area + 0, 100000, 3);                    // across its beginning
  send(area + 0, kMost, 4);                     // and all of it between ordinary memory
  spec::barrier();
}

// Catches a segment that is taken for page-locked because a part of it is.
SPEC_CASE(mk_borders, overlapping_segments) {
  mk::devices();
  const Area area;
  const HostSegment first(area + 0, 512 << 10), second(area + (256 << 10), 512 << 10);
  send(area + 0, 256 << 10, 5);
  send(area + (256 << 10), 512 << 10, 6);
  send(area + (100 << 10), kMost, 7);
  spec::barrier();
}

// Not even whole pages. Catches a kind that knows of its own page locks only.
SPEC_CASE(mk_borders, locked_by_program) {
  mk::devices();
  const Area area;
  const int device = mk::devices().device[0];
  struct Range {
    size_t begin, bytes;
  };
  std::vector<size_t> locked;
  // The last one begins where the one before it ends.
  for (const Range r : {Range{100001, 150000}, Range{300000, 65536}, Range{365536, 77777}}) {
    if (mk::access().pin(device, area + r.begin, r.bytes)) locked.push_back(r.begin);
  }
  send(area + 0, kMost, 8);
  send(area + 100001, 150001, 9);
  send(area + 100000, 150001, 10);
  send(area + 300000, 143314, 11);
  for (const size_t begin : locked) mk::access().unpin(device, area + begin);
  spec::barrier();
}
