// Blocks one after the other from one process to another through places in shared memory: what
// active messages with a payload have to do that nobody waits for one by one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "spin.h"

namespace causeway::bench::raw {

struct Stream {
  struct alignas(64) Count {
    std::atomic<uint64_t> blocks;
  };
  Count sent, taken;
};

// The places for blocks of one size.
struct Places {
  unsigned char* memory;
  size_t bytes, count;
  Places(unsigned char* at, size_t room, size_t block)
      : memory(at), bytes(block), count(std::clamp<size_t>(room / block, 1, 64)) {}
  unsigned char* of(uint64_t block) const { return memory + block % count * bytes; }
};

// Only this side moves `sent`. Its release publishes the block; acquire: the place has been read.
inline void stream_send(Stream& stream, const Places& places, const void* block, uint64_t blocks,
                        bool cores_are_shared) {
  Spinner spinner(cores_are_shared);
  const uint64_t first = stream.sent.blocks.load(std::memory_order_relaxed);
  const auto taken = [&] { return stream.taken.blocks.load(std::memory_order_acquire); };
  for (uint64_t i = first; i < first + blocks; ++i) {
    while (i - taken() >= places.count) spinner.step();
    std::memcpy(places.of(i), block, places.bytes);
    stream.sent.blocks.store(i + 1, std::memory_order_release);
  }
  while (taken() != first + blocks) spinner.step();
}

// Looks at every line, as a handler that uses its payload does, and returns the sum.
inline uint64_t stream_take(Stream& stream, const Places& places, uint64_t blocks,
                            bool cores_are_shared) {
  Spinner spinner(cores_are_shared);
  const uint64_t first = stream.taken.blocks.load(std::memory_order_relaxed);
  uint64_t sum = 0;
  for (uint64_t i = first; i < first + blocks; ++i) {
    while (stream.sent.blocks.load(std::memory_order_acquire) <= i) spinner.step();
    for (size_t at = 0; at < places.bytes; at += 64) sum += places.of(i)[at];
    stream.taken.blocks.store(i + 1, std::memory_order_release);
  }
  return sum;
}

}  // namespace causeway::bench::raw
