// How large a medium there is room for now: what a negotiation may grant beyond its least.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "ring.h"

namespace causeway::shm {

// Most payload bytes of a medium with `nargs` arguments for which reserve() would find room. 0 when
// there is none, or only for an empty payload.
inline size_t medium_room(const TxLane& lane, uint32_t nargs) {
  if (lane.reserved || lane.base == nullptr) return 0;
  const uint64_t position = lane.lap + static_cast<uint64_t>(lane.at - lane.base);
  // Acquire: as in reserve().
  const uint64_t used = position - lane.head->load(std::memory_order_acquire);
  if (used > lane.ring_bytes()) return 0;
  const size_t room = lane.ring_bytes() - static_cast<size_t>(used);
  const auto to_end = static_cast<size_t>(lane.end - lane.at);
  // Up to the ring's end, or behind a skip to its start.
  const size_t here = std::min(to_end, room);
  const size_t at_start = room > to_end ? room - to_end : 0;
  const size_t size = std::max(here, at_start > to_end ? at_start : 0);
  const size_t overhead = record_fixed + args_bytes(nargs);
  const size_t whole = size / record_unit * record_unit;
  return whole > overhead ? whole - overhead : 0;
}

}  // namespace causeway::shm
