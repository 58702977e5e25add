// Arena: one stretch of memory per process that neighbors map, for the collectives' signals and
// scratch. It comes from the conduit that maps neighbors' memory; where there is none, or the
// configuration forbids direct access, there is no arena and everything travels as messages.
//
// Where a neighbor's arena is mapped here is found out once per neighbor, when first needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

class Endpoint;
struct Peer;

// At the front of every arena.
struct ArenaHead {
  // Threads of the owner that sleep, or are about to. Written by the owner; a neighbor that has
  // raised a signal reads it and, when it is not zero, sends a message that wakes the owner. The
  // owner announces the nap and then looks at its signals, the neighbor raises the signal and then
  // looks here: one of the two must see the other. Either the neighbor is sequentially consistent
  // and the owner has a fence between, or, where all can have it so (naps_are_fenced), the owner
  // has every processor that runs one of them pass a barrier between, and the neighbor needs none:
  // a fence at each signal would wait for the line that the signal lies in.
  alignas(64) std::atomic<uint32_t> napping;
  // Differs for every arena. Memory that holds this token where the arena should be is the arena of
  // that owner (cross_memory_pid).
  alignas(64) uint64_t token;
};

// Do all ranks that share memory with this one make the others pass a barrier before they sleep?
bool naps_are_fenced();
// Makes them, once the nap is announced.
void fence_others();

inline constexpr uint64_t kNoOffset = UINT64_MAX;

// The text that this process gives the others at start-up: what its table of algorithms would
// choose, and the right to its arena. Makes the arena.
std::string collective_card(Endpoint& ep);
// Compares and keeps everybody's cards. Throws Error naming ranks whose tables differ.
void adopt_collective_cards();
// The key under which the card travels among a rank's addresses; no conduit can have this name.
inline constexpr const char* kCollectiveCard = "*collectives";

// Space in this process' arena; kNoOffset when there is none left. Any thread.
uint64_t arena_allocate(size_t bytes);
void arena_release(uint64_t offset, size_t bytes);
// The process id of that neighbor if the kernel copies between its memory and this process', as a
// try with the first call for a rank has shown; 0 otherwise. Not from inside a delivery.
uint32_t cross_memory_pid(Peer& peer);
// May neighbors be told of memory that only the kernel can reach?
bool cross_memory_wanted();
char* own_arena();  // NULL: no arena
size_t arena_bytes();

// Does that rank have an arena? The same answer on every rank.
bool has_arena(uint32_t job_rank);
// The memory domain of that rank on its host (collective/domain.h). The same answer on every rank.
uint32_t domain_of(uint32_t job_rank);
// Do this process and that rank map each other's arenas, as far as is known without trying?
bool shares_arena(uint32_t job_rank);
// Where the arena of the peer is in this process; NULL when it cannot be mapped. The first call
// for a rank maps it. Not from inside a delivery.
char* mapped_arena(Peer& peer);

inline ArenaHead& arena_head(char* arena) {
  return *reinterpret_cast<ArenaHead*>(arena);
}

}  // namespace causeway
