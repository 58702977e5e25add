// Operations and bytes by peer, as `ep_traffic` tells them.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "count.h"

namespace causeway::conduit {

// The thread that is in the endpoint counts.
class PeerTraffic {
 public:
  // Before anything is counted or told.
  void open(uint32_t ranks) {
    told_ = std::min(ranks, kMost);
    // Zeros take no memory before a peer is met.
    of_.reset(static_cast<Counts*>(std::calloc(told_ + 1, sizeof(Counts))));
    if (of_ == nullptr) throw std::bad_alloc();
  }

  void sent(uint32_t rank, uint64_t bytes) { add(rank, CWYC_SENT, CWYC_SENT_BYTES, bytes); }
  void received(uint32_t rank, uint64_t n) { add(rank, CWYC_RECEIVED, CWYC_RECEIVED_BYTES, n); }
  // This rank asked, and bytes came.
  void fetched(uint32_t rank, uint64_t bytes) { add(rank, CWYC_SENT, CWYC_RECEIVED_BYTES, bytes); }

  void tell(cwyc_traffic_fn fn, void* arg, uint64_t retries) const {
    for (uint32_t rank = 0; rank <= told_; ++rank) {
      uint64_t counts[CWYC_RETRIES + 1] = {};
      std::copy(of_[rank].begin(), of_[rank].end(), counts);
      if (rank == told_) counts[CWYC_RETRIES] = retries;
      fn(arg, rank < told_ ? rank : UINT32_MAX, counts, CWYC_RETRIES + 1);
    }
  }

 private:
  static constexpr uint32_t kMost = 4096;  // ranks from there on are counted together
  using Counts = std::array<Count, CWYC_RETRIES>;
  struct Free {
    void operator()(Counts* counts) const { std::free(counts); }
  };

  void add(uint32_t rank, uint32_t operations, uint32_t in_bytes, uint64_t bytes) {
    Counts& counts = of_[std::min(rank, told_)];
    counts[operations].add(1);
    counts[in_bytes].add(bytes);
  }

  uint32_t told_ = 0;
  std::unique_ptr<Counts[], Free> of_;
};

}  // namespace causeway::conduit
