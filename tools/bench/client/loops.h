// The loops over the library's calls: the counterparts of raw/access.h, written alike.
#pragma once

#include <gasnet_ratomic.h>

#include <cstddef>
#include <cstdint>

namespace causeway::bench {

struct Peer {
  gex_TM_t tm;
  gex_Rank_t rank;
};

void put8_same(Peer peer, void* dest, uint64_t count);
void put8_nb_same(Peer peer, void* dest, uint64_t count);
void put8_array(Peer peer, void* const* dests, const uint64_t* values, size_t mask, uint64_t count);
void put8_value(Peer peer, void* const* dests, size_t dests_mask, uint64_t count);
void get8_same(Peer peer, void* src, uint64_t count);
void get8_array(Peer peer, void* const* srcs, size_t srcs_mask, uint64_t count);
void get8_chain(Peer peer, void* first, uint64_t count);
void fetch_add8_same(gex_AD_t ad, gex_Rank_t rank, void* word, uint64_t count);
void fetch_add8_array(gex_AD_t ad, gex_Rank_t rank, void* const* words, size_t words_mask,
                      uint64_t count);
// With an opcode that only the caller knows.
void fetch_op8_same(gex_AD_t ad, gex_Rank_t rank, void* word, gex_OP_t opcode, uint64_t count);
void put_bulk(Peer peer, void* dest, const void* src, size_t bytes, uint64_t count);
void get_bulk(Peer peer, void* dest, void* src, size_t bytes, uint64_t count);

}  // namespace causeway::bench
