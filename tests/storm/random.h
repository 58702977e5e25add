// Numbers that are the same everywhere for one seed. A step's choices come from a generator of the
// step's own, so that a shorter script is the beginning of a longer one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace storm {

// The last stage of splitmix64: one to one, and every bit of the result depends on every other.
constexpr uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
constexpr uint64_t mix(uint64_t a, uint64_t b) {
  return mix(mix(a + 0x9E3779B97F4A7C15u) + b * 0xD1B54A32D192ED03u);
}

class Random {
 public:
  explicit constexpr Random(uint64_t seed) : state_(seed) {}
  constexpr uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  constexpr size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  constexpr size_t within(size_t least, size_t most) { return least + below(most - least + 1); }
  constexpr bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  constexpr T one_of(std::initializer_list<T> all) {
    return all.begin()[below(all.size())];
  }

  // 0 to `most`, with weight where libraries change their ways: nothing, a few bytes, lines, what a
  // message carries, and around powers of two from 4 to 32 KiB.
  constexpr size_t size(size_t most) {
    size_t bytes = 0;
    switch (below(8)) {
      case 0:
        bytes = below(17);
        break;
      case 1:
        bytes = below(257);
        break;
      case 2:
        bytes = below(5000);
        break;
      case 3:
      case 4:
      case 5:
        bytes = (size_t{4096} << below(4)) - 9 + below(18);
        break;
      case 6:
        bytes = within(4096, 32768);
        break;
      default:
        bytes = below(most + 1);
        break;
    }
    return std::min(bytes, most);
  }

 private:
  uint64_t state_;
};

}  // namespace storm
