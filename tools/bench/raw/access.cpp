#include "access.h"

#include <cstring>

namespace causeway::bench::raw {

[[gnu::noinline]] void store_same(void* dest, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = i;
    memcpy(dest, &value, sizeof value);
    keep(dest);
  }
}

[[gnu::noinline]] void store_array(void* const* dests, size_t dests_mask, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = i;
    memcpy(dests[i & dests_mask], &value, sizeof value);
    keep(dests);
  }
}

[[gnu::noinline]] void copy_array(void* const* dests, const uint64_t* values, size_t mask,
                                  uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    memcpy(dests[i & mask], &values[i & mask], sizeof *values);
    keep(dests);
  }
}

[[gnu::noinline]] void load_same(const void* src, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value;
    memcpy(&value, src, sizeof value);
    keep(value);
  }
}

[[gnu::noinline]] void load_array(const void* const* srcs, size_t srcs_mask, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value;
    memcpy(&value, srcs[i & srcs_mask], sizeof value);
    keep(value);
  }
}

[[gnu::noinline]] void load_chain(const void* first, uint64_t count) {
  const void* at = first;
  for (uint64_t i = 0; i < count; ++i) {
    memcpy(&at, at, sizeof at);
    keep(at);
  }
}

// acq_rel: what the library promises; on x86 any order is the same instruction.
[[gnu::noinline]] void fetch_add_same(void* word, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    keep(__atomic_fetch_add(static_cast<uint64_t*>(word), 1, __ATOMIC_ACQ_REL));
}

[[gnu::noinline]] void fetch_add_array(void* const* words, size_t words_mask, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    keep(__atomic_fetch_add(static_cast<uint64_t*>(words[i & words_mask]), 1, __ATOMIC_ACQ_REL));
}

[[gnu::noinline]] void copy(void* dest, const void* src, size_t bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    memcpy(dest, src, bytes);
    keep(dest);
  }
}

[[gnu::noinline]] void copy_rows64(char* dest, size_t dest_pitch, const char* src, size_t src_pitch,
                                   size_t rows, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    for (size_t row = 0; row < rows; ++row)
      memcpy(dest + row * dest_pitch, src + row * src_pitch, 64);
    keep(dest);
  }
}

[[gnu::noinline]] void transpose8(char* dest, const char* src, size_t side, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    for (size_t row = 0; row < side; ++row)
      for (size_t column = 0; column < side; ++column)
        memcpy(dest + 8 * (row * side + column), src + 8 * (column * side + row), 8);
    keep(dest);
  }
}

[[gnu::noinline]] void copy_indexed8(void* const* dests, void* const* srcs, size_t pieces,
                                     uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    for (size_t piece = 0; piece < pieces; ++piece) memcpy(dests[piece], srcs[piece], 8);
    keep(dests);
  }
}

}  // namespace causeway::bench::raw
