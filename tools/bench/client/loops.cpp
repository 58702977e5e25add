#include "loops.h"

#include "../raw/access.h"

namespace causeway::bench {

[[gnu::noinline]] void put8_same(Peer peer, void* dest, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = i;
    gex_RMA_PutBlocking(peer.tm, peer.rank, dest, &value, sizeof value, 0);
    keep(dest);
  }
}

[[gnu::noinline]] void put8_nb_same(Peer peer, void* dest, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = i;
    gex_Event_Wait(gex_RMA_PutNB(peer.tm, peer.rank, dest, &value, sizeof value, GEX_EVENT_NOW, 0));
    keep(dest);
  }
}

[[gnu::noinline]] void put8_array(Peer peer, void* const* dests, const uint64_t* values,
                                  size_t mask, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_RMA_PutBlocking(peer.tm, peer.rank, dests[i & mask], &values[i & mask], sizeof *values, 0);
    keep(dests);
  }
}

[[gnu::noinline]] void put8_value(Peer peer, void* const* dests, size_t dests_mask,
                                  uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_RMA_PutBlockingVal(peer.tm, peer.rank, dests[i & dests_mask], i, sizeof i, 0);
    keep(dests);
  }
}

[[gnu::noinline]] void get8_same(Peer peer, void* src, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value;
    gex_RMA_GetBlocking(peer.tm, &value, peer.rank, src, sizeof value, 0);
    keep(value);
  }
}

[[gnu::noinline]] void get8_array(Peer peer, void* const* srcs, size_t srcs_mask, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value;
    gex_RMA_GetBlocking(peer.tm, &value, peer.rank, srcs[i & srcs_mask], sizeof value, 0);
    keep(value);
  }
}

[[gnu::noinline]] void get8_chain(Peer peer, void* first, uint64_t count) {
  void* at = first;
  for (uint64_t i = 0; i < count; ++i) {
    void* next;
    gex_RMA_GetBlocking(peer.tm, &next, peer.rank, at, sizeof next, 0);
    at = next;
    keep(at);
  }
}

[[gnu::noinline]] void fetch_add8_same(gex_AD_t ad, gex_Rank_t rank, void* word, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t old;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, rank, word, GEX_OP_FADD, 1, 0, 0));
    keep(old);
  }
}

[[gnu::noinline]] void fetch_add8_array(gex_AD_t ad, gex_Rank_t rank, void* const* words,
                                        size_t words_mask, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t old;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, rank, words[i & words_mask], GEX_OP_FADD, 1, 0, 0));
    keep(old);
  }
}

[[gnu::noinline]] void fetch_op8_same(gex_AD_t ad, gex_Rank_t rank, void* word, gex_OP_t opcode,
                                      uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t old;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, rank, word, opcode, 1, 0, 0));
    keep(old);
  }
}

[[gnu::noinline]] void put_bulk(Peer peer, void* dest, const void* src, size_t bytes,
                                uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_RMA_PutBlocking(peer.tm, peer.rank, dest, src, bytes, 0);
    keep(dest);
  }
}

[[gnu::noinline]] void get_bulk(Peer peer, void* dest, void* src, size_t bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    gex_RMA_GetBlocking(peer.tm, dest, peer.rank, src, bytes, 0);
    keep(dest);
  }
}

}  // namespace causeway::bench
