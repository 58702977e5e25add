// How large a medium there is room for now: what a negotiation may grant beyond its least.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "ring.h"

namespace causeway::shm {

// Most payload bytes of a medium with `nargs` arguments for which reserve() would find room. 0 when
// there is none, or only for an empty payload.
inline size_t medium_room(TxLane& lane, uint32_t nargs) {
  if (lane.reserved || lane.base == nullptr) return 0;
  const TxLane::Room room = lane.room();
  const size_t size = std::max(room.here, room.there);
  const size_t overhead = record_fixed + args_bytes(nargs);
  const size_t whole = size / record_unit * record_unit;
  return whole > overhead ? whole - overhead : 0;
}

}  // namespace causeway::shm
