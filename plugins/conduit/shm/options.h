// The options of one configured instance; their meaning stands in README.md.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstdint>

namespace causeway::shm {

enum class Memory { automatic, memfd, posix };
enum class HugePages { never, attempt, require };
enum class Numa { first_touch, local, interleave };
enum class Cma { automatic, never, require };
enum class Reserve { automatic, always, never };
enum class Wakeup { automatic, membarrier, bounded };

struct Options {
  Memory memory = Memory::automatic;
  HugePages huge_pages = HugePages::never;
  Numa numa = Numa::first_touch;
  Cma cma = Cma::automatic;
  Reserve reserve = Reserve::automatic;
  Wakeup wakeup = Wakeup::automatic;
  uint64_t ring_bytes = 0;   // 0: by the number of ranks on the host
  uint32_t connections = 0;  // 0: by the number of ranks on the host
};

cwy_status read_options(const cwy_services& services, const cwy_options* opts, Options& out,
                        cwy_err* err);

// Bytes of one ring when the option leaves it open.
uint64_t default_ring_bytes(uint32_t local_count);
uint32_t default_connections(uint32_t local_count);
// Slots for side ways, beside those of connections.
uint32_t default_side_slots(uint32_t local_count, uint64_t ring_bytes);

}  // namespace causeway::shm
