// Endpoints beside the primordial one, shared by the cases that need some: made, bound and
// published once, by all ranks in one order, so that their indices agree.
#pragma once

#include <array>
#include <cstddef>

#include "../harness.h"

namespace spec {

constexpr unsigned kEndpoints = 4;  // with the primordial one, which stands at 0
constexpr size_t kExtraBytes = size_t{1} << 16;

struct Extra {
  std::array<gex_EP_t, kEndpoints> ep;
  std::array<gex_EP_Index_t, kEndpoints> index;
};

// Collective at its first call. 1: a segment of the client's memory; 2: one that the library
// allocated; 3: bound to the segment of 2.
const Extra& extra();

// Where `offset` into the part of the segment of (rank, i) lies that cases may use.
std::byte* extra_segment(gex_Rank_t rank, unsigned i, size_t offset = 0);

}  // namespace spec
