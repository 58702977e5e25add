// Stores into memory of this process, and loads from it, that a peer's message asks for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

// Ends the job with one line unless [addr, addr+length) lies in the segment bound to the addressed
// endpoint or in others of this process: a peer's wrong address must not become this rank's crash.
void require_in_segment(const Peer& from, uint64_t addr, uint64_t length, const char* what);

// Is it memory that may not be there: of no segment, or any with GASNET_SEGMENT_EVERYTHING, where
// only `checks: full` asks? (Otherwise a wrong address is a fault of this process, as the
// specification has it.)
bool is_doubtful(uint64_t addr, size_t length, bool anywhere);

// Writes what a peer sent to where it said. Ends the job with one line where that is not in a
// segment (`anywhere` false), or cannot be written at all.
void store_for_peer(const Peer& from, uint64_t addr, const void* payload, size_t length,
                    bool anywhere, const char* what);

// The same for what a peer wants to read.
void load_for_peer(const Peer& from, uint64_t addr, void* to, size_t length, bool anywhere,
                   const char* what);

}  // namespace causeway
