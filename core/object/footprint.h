// Footprint: what the other ranks of a job cost this process in memory.
#pragma once

#include <cstdint>
#include <string>

namespace causeway {

// What the core keeps for a rank that was never contacted, on average over the job: what is known
// of it, its place in the first client's team, its segment. Counted, with 16 bytes for each
// allocation. The aim is 2 KB at most.
uint64_t bytes_of_uncontacted_peer();

// "N bytes of each rank never contacted; connections: shm 3 of M bytes, ...". A connection's bytes
// are the core's and what the conduit took from the heap to connect, on average; what it maps or
// registers besides is in its README.
std::string footprint_text();

}  // namespace causeway
