// Addresses and rights: what every operation with memory resolves before it posts.
#pragma once

#include <gasnetex.h>

#include "object/peer.h"

namespace causeway {

class Endpoint;
class Team;

// The local address an argument means: itself, or an offset into the bound segment.
const void* local_address(const Team& team, const void* addr, gex_Flags_t flags);
const void* local_address(const Endpoint& ep, const void* addr, gex_Flags_t flags);
void* remote_address(const Peer& peer, void* addr, gex_Flags_t flags);

// The local registration that covers [addr, addr+length) in the connection's conduit, or NULL.
cwyc_mem* local_registration(const Team& team, cwyc_conn* conn, const void* addr, size_t length);
// The same for a connection that is no stub.
cwyc_mem* local_registration(cwyc_conn* conn, const void* addr, size_t length);

// May the flags mean memory of the peer beyond its bound segment? Such memory is reached by active
// messages that the owner checks: PEER_SEG_SOME against its segments, PEER_SEG_UNKNOWN against what
// is mapped there at all.
inline bool may_be_elsewhere(gex_Flags_t flags) {
  return (flags & (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)) != 0;
}
bool in_bound_segment(const Peer& peer, uint64_t addr, size_t length);

// With `checks: full`: ends the job unless the range lies in the peer's bound segment.
void require_remote_range(const char* call, const Peer& peer, const void* addr, size_t length);

// Long active messages over whatever reaches the destination. `conn` is the peer's connection for
// messages, and no stub.
cwy_status post_long(cwyc_conn* conn, uint64_t word, const int32_t* args, unsigned nargs,
                     const void* src, size_t length, void* dest, uint32_t flags, cwyc_op* op);

}  // namespace causeway
