#include "launch/siphash.h"

#include <bit>
#include <cstddef>

namespace causeway::launch {
namespace {

uint64_t load_le(const uint8_t* from, size_t count = 8) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint64_t>(from[i]) << (8 * i);
  return value;
}

void store_le(uint8_t* to, uint64_t value) {
  for (size_t i = 0; i < 8; ++i) to[i] = static_cast<uint8_t>(value >> (8 * i));
}

struct State {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void rounds(int count) {
    while (count-- > 0) round();
  }
  void absorb(uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  uint64_t fold() const { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace

std::array<uint8_t, 16> siphash(const Key& key, std::string_view message) {
  const uint64_t k0 = load_le(key.data()), k1 = load_le(key.data() + 8);
  State s{0x736f6d6570736575ull ^ k0, 0x646f72616e646f6dull ^ k1 ^ 0xee, 0x6c7967656e657261ull ^ k0,
          0x7465646279746573ull ^ k1};
  const auto* at = reinterpret_cast<const uint8_t*>(message.data());
  const size_t whole = message.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8) s.absorb(load_le(at + i));
  s.absorb(load_le(at + whole, message.size() - whole) | static_cast<uint64_t>(message.size())
                                                             << 56);
  std::array<uint8_t, 16> out;
  s.v2 ^= 0xee;
  s.rounds(4);
  store_le(out.data(), s.fold());
  s.v1 ^= 0xdd;
  s.rounds(4);
  store_le(out.data() + 8, s.fold());
  return out;
}

}  // namespace causeway::launch
