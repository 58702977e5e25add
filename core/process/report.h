// The account of what each transport carried, read from the conduits' own counters, and of what the
// other ranks of a job cost this process in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace causeway {

// Ends the phase of the start before, and begins this one; nullptr: none. Those of one literal add
// up. The report tells the time that each took, and the processor's.
void start_phase(const char* name);

// With `report: true`, rank 0 prints the lines when the job ends.
void print_report_at_exit();

// The memory that the core keeps for a rank that was never contacted, on average over the job: what
// is known of it and of its segments, its place in the first client's team and among peers.
// Counted.
uint64_t bytes_of_uncontacted_peer();

// The growth of this process for connections of one conduit: memory of its own, from the heap or
// mapped, touched or not; other mappings.
struct ConnectionCost {
  std::string conduit;
  uint64_t count;
  int64_t counted;        // made after the first question
  int64_t bytes, shared;  // of each of those
};
// The costs of conduits that have connected.
std::vector<ConnectionCost> connection_costs();

// "N bytes of each rank never contacted; connections: shm 3 of M bytes and K shared, ...".
std::string footprint_text();

}  // namespace causeway
