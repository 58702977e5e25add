// Walks two lists of pieces that cover equal byte counts, cut at any place.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace causeway {

// Calls move(local, remote, bytes) for every piece that is contiguous on both sides. Returns false
// when the lists do not cover equal byte counts; what both cover has been moved then.
template <class Move>
bool for_each_common_piece(const cwyc_vector& v, Move&& move) {
  const cwyc_iov* const local = v.local;
  const cwyc_riov* const remote = v.remote;
  const size_t nlocal = v.local_count, nremote = v.remote_count;
  size_t l = 0, r = 0;
  uint64_t l_done = 0, r_done = 0;
  while (true) {
    while (l < nlocal && l_done == local[l].length) ++l, l_done = 0;
    while (r < nremote && r_done == remote[r].length) ++r, r_done = 0;
    if (l == nlocal || r == nremote) return l == nlocal && r == nremote;
    const uint64_t bytes = std::min(local[l].length - l_done, remote[r].length - r_done);
    move(static_cast<char*>(local[l].addr) + l_done, remote[r].addr + r_done,
         static_cast<size_t>(bytes));
    l_done += bytes;
    r_done += bytes;
  }
}

}  // namespace causeway
