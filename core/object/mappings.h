// Which memory of neighbors is mapped here. A mapping is known from map_directly() on until its
// Publication is closed; its owner's segment stays as long.
#pragma once

#include <cstdint>

namespace causeway {

struct Publication;

struct Mapping {
  const Publication* of = nullptr;
  uint32_t rank = 0;                        // whose memory it is
  uint64_t number = 0;                      // and which segment of its owner's (RemoteSegment)
  uint64_t base = 0, size = 0, theirs = 0;  // here; `theirs`: its owner's address
};

void add_mapping(const Mapping& mapping);
// Page locks on it are let go (staging/pins.h). Nothing where none is known.
void remove_mapping(const Publication& of);

// Where all of the range of the rank's addresses, in its segment `number`, lies here, or NULL. Any
// thread, any context; under a lock, so for transfers that cost more than that.
char* mapped_here(uint32_t rank, uint64_t number, uint64_t theirs, uint64_t length);
// The mapping that holds all of a range of addresses here.
bool find_mapping(uint64_t here, uint64_t length, uint64_t* base, uint64_t* size);

}  // namespace causeway
