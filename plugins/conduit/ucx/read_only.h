// Memory that may be read only, as far as UCX has stumbled over it.
//
// UCX 1.13 registers what it sends without a copy as if it were to be written to, and a driver of
// adapters refuses that for pages that may not be. Such sources are copied. Nobody looks for them
// ahead: the first operation from a mapping is refused, its mapping is looked up and remembered
// (UCX keeps a request for each refusal, so there is one per mapping), and the operation is posted
// again. Memory that has become writable meanwhile is copied without need, and correctly.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway::ucx {

// Belongs to an endpoint: one thread at a time.
class ReadOnlyMemory {
 public:
  // Does any byte lie in what is remembered?
  bool holds(const void* at, size_t length) const {
    return __builtin_expect(used_ != 0, 0) && find(at, length);
  }
  // Remembers the mappings that these bytes lie in and that may be read only. False: there is none.
  bool learn(const void* at, size_t length);

 private:
  struct Range {
    uint64_t from, to;
  };
  // More mappings than these take turns.
  static constexpr uint32_t room = 32;

  bool find(const void* at, size_t length) const;
  void remember(const Range& range);

  Range ranges_[room] = {};
  uint32_t used_ = 0;
  uint32_t next_ = 0;
};

}  // namespace causeway::ucx
