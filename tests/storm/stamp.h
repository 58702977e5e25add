// Contents that name their writer: each word says which step wrote it, for which rank, and where in
// the buffer it belongs. A foreign byte therefore says where it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace storm {

struct Stamp {
  uint32_t step = 0;    // below 2^24
  uint8_t writer = 0;   // an actor's number
  uint8_t purpose = 0;  // which buffer of the step
};

uint64_t stamp_word(Stamp stamp, size_t index);
void fill(void* memory, size_t bytes, Stamp stamp);
// As if byte `from` of a buffer of this stamp stood at `memory`.
void fill_from(void* memory, size_t from, size_t bytes, Stamp stamp);
// The first wrong byte, or `bytes`.
size_t first_wrong(const void* memory, size_t bytes, Stamp stamp);
size_t first_wrong_from(const void* memory, size_t from, size_t bytes, Stamp stamp);
// The contents of byte `at` of `memory`, in words: a stamp, a poison, or unknown bytes.
std::string describe(const void* memory, size_t bytes, size_t at);

// The contents of a buffer before anybody wrote it, and after its owner has got it back.
inline constexpr unsigned char kFresh = 0xA7, kTaken = 0x5D;

}  // namespace storm
