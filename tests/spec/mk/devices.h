// Endpoints bound to device memory, shared by the cases: made, bound and published once, by all
// ranks in one order, so that their indices agree.
#pragma once

#include <gasnet_mk.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../harness.h"
#include "bench/raw/device_access.h"

namespace mk {

// 0: the primordial endpoint with host memory. 1: device memory of the library's. 2: device memory
// of the client's, on another device where there is one.
constexpr unsigned kPlaces = 3;
constexpr size_t kBytes = size_t{1} << 20;

struct Devices {
  gex_MK_t kind[2];
  int device[2];
  gex_EP_t ep[kPlaces];
  gex_Segment_t segment[kPlaces];
};
// Collective at its first call.
const Devices& devices();

// Where `offset` into the memory of (rank, place) lies, as its owner sees it.
std::byte* at(gex_Rank_t rank, unsigned place, size_t offset = 0);
// The TM-pair from a place here to one there.
gex_TM_t pair(unsigned from, unsigned to);

// Memory of this process, wherever it is: through the driver where it is a device's.
void write(unsigned place, size_t offset, const void* src, size_t bytes);
void read(unsigned place, size_t offset, void* dst, size_t bytes);
void fill(unsigned place, size_t offset, size_t bytes, uint64_t seed);
// The first wrong byte, or `bytes`.
size_t wrong(unsigned place, size_t offset, size_t bytes, uint64_t seed);

#define CHECK_PLACE(place, offset, bytes, seed) \
  CHECK_EQ(::mk::wrong((place), (offset), (bytes), (seed)), static_cast<size_t>(bytes))

}  // namespace mk
