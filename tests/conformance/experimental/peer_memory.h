// Questions of cases about the memory that the peer's side lends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../harness/session.h"

namespace causeway::conformance {

struct Range {
  uint64_t offset, length;
};

inline Nothing clear(Side& side, const Nothing&) {
  std::fill_n(side.memory->data(), side.memory->size(), uint8_t{0});
  return {};
}
inline uint64_t sum_of(Side& side, const Range& range) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < range.length; ++i) sum += side.memory->data()[range.offset + i];
  return sum;
}

}  // namespace causeway::conformance
