#include "stamp.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "script.h"

namespace storm {
namespace {

// mix() backwards.
uint64_t unmix(uint64_t z) {
  z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642B2D24D8EC3u;
  z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96DE1B173F119089u;
  return z ^ (z >> 30) ^ (z >> 60);
}

// 24 bits of the index reach further than any buffer here.
uint64_t plain(Stamp s, size_t index) {
  return uint64_t{s.step} << 40 | uint64_t{s.writer} << 32 | uint64_t{s.purpose} << 24 | index;
}

}  // namespace

uint64_t stamp_word(Stamp stamp, size_t index) {
  return mix(plain(stamp, index));
}

void fill_from(void* memory, size_t from, size_t bytes, Stamp stamp) {
  auto* out = static_cast<unsigned char*>(memory);
  while (bytes > 0) {
    const uint64_t word = stamp_word(stamp, from / 8);
    const size_t within = from % 8, n = std::min(bytes, 8 - within);
    std::memcpy(out, reinterpret_cast<const unsigned char*>(&word) + within, n);
    out += n;
    from += n;
    bytes -= n;
  }
}

void fill(void* memory, size_t bytes, Stamp stamp) {
  fill_from(memory, 0, bytes, stamp);
}

size_t first_wrong_from(const void* memory, size_t from, size_t bytes, Stamp stamp) {
  const auto* in = static_cast<const unsigned char*>(memory);
  for (size_t done = 0; done < bytes;) {
    const uint64_t word = stamp_word(stamp, (from + done) / 8);
    const size_t within = (from + done) % 8, n = std::min(bytes - done, 8 - within);
    const auto* want = reinterpret_cast<const unsigned char*>(&word) + within;
    if (std::memcmp(in + done, want, n) != 0)
      return done + static_cast<size_t>(std::mismatch(want, want + n, in + done).first - want);
    done += n;
  }
  return bytes;
}

size_t first_wrong(const void* memory, size_t bytes, Stamp stamp) {
  return first_wrong_from(memory, 0, bytes, stamp);
}

std::string describe(const void* memory, size_t bytes, size_t at) {
  const auto* in = static_cast<const unsigned char*>(memory);
  char text[128];
  // Eight bytes that are a stamp may begin anywhere near.
  for (size_t shift = 0; shift < 8; ++shift) {
    const size_t begin = at - std::min(at, shift);
    if (begin + 8 > bytes) continue;
    uint64_t word;
    std::memcpy(&word, in + begin, 8);
    if (word == 0) continue;  // memory that was never written
    const uint64_t p = unmix(word);
    // A stamp of this run: indices are small, purposes few.
    if ((p & 0xFFFFFF) < 1 << 16 && (p >> 24 & 0xFF) < 32 && (p >> 32 & 0xFF) < 64 &&
        p >> 40 < 1 << 18) {
      std::snprintf(
          text, sizeof text, "bytes of rank %u's thread %u of step %u (buffer %u, byte %zu)",
          static_cast<unsigned>(p >> 32 & 0xFF) / kThreads,
          static_cast<unsigned>(p >> 32 & 0xFF) % kThreads, static_cast<unsigned>(p >> 40),
          static_cast<unsigned>(p >> 24 & 0xFF), static_cast<size_t>(p & 0xFFFFFF) * 8);
      return text;
    }
  }
  if (in[at] == kFresh) return "bytes that nobody wrote";
  if (in[at] == kTaken) return "bytes of a buffer that its owner had got back";
  std::snprintf(text, sizeof text, "byte 0x%02x", in[at]);
  return text;
}

}  // namespace storm
