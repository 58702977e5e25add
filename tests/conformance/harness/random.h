// Random: the suite's own generator, so that a seed gives the same run on every system.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway::conformance {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}

  uint64_t next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
  // Between the two, both included.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }

 private:
  uint64_t state_;
};

// Byte `i` of the payload number `key`: any dropped, shifted or repeated stretch shows.
inline uint8_t pattern_byte(uint64_t key, size_t i) {
  return static_cast<uint8_t>((key * 0x9d + i * 7 + (i >> 8) * 13 + (i >> 16) * 29 + (key >> 8)) ^
                              0x5a);
}
void fill_pattern(void* to, size_t length, uint64_t key);
// Index of the first byte that differs from the pattern, or `length`.
size_t first_difference(const void* data, size_t length, uint64_t key);

}  // namespace causeway::conformance
