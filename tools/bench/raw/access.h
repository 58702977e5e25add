// Loads, stores and copies through a mapped pointer: the loops a put or a get is held against.
//
// Never inlined, and with the same compiler barrier after every operation as the loops over the
// library, so that neither side has its loads and stores hoisted, merged or dropped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway::bench {

// Everything in memory may have been read and changed here, and `value` is needed.
template <class T>
inline void keep(T value) {
  asm volatile("" : : "r"(value) : "memory");
}

namespace raw {

void store_same(void* dest, uint64_t count);
void store_array(void* const* dests, size_t dests_mask, uint64_t count);
// From an array of values to the addresses of an array.
void copy_array(void* const* dests, const uint64_t* values, size_t mask, uint64_t count);
void load_same(const void* src, uint64_t count);
void load_array(const void* const* srcs, size_t srcs_mask, uint64_t count);
// Every value loaded is the address of the next load.
void load_chain(const void* first, uint64_t count);
// Fetch-add of 1 to a 64-bit word.
void fetch_add_same(void* word, uint64_t count);
void fetch_add_array(void* const* words, size_t words_mask, uint64_t count);
void copy(void* dest, const void* src, size_t bytes, uint64_t count);
// `count` times `rows` elements of 64 bytes, at distances of the pitches.
void copy_rows64(char* dest, size_t dest_pitch, const char* src, size_t src_pitch, size_t rows,
                 uint64_t count);
// `count` times a square matrix of 8-byte elements, transposed.
void transpose8(char* dest, const char* src, size_t side, uint64_t count);
// `count` times 8 bytes from each address to its counterpart.
void copy_indexed8(void* const* dests, void* const* srcs, size_t pieces, uint64_t count);

}  // namespace raw
}  // namespace causeway::bench
