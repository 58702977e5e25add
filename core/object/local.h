// Addresses and rights: what every operation with memory resolves before it posts.
#pragma once

#include <gasnetex.h>

#include "connection/peer.h"
#include "connection/post_flags.h"
#include "object/endpoint.h"
#include "object/segment.h"

namespace causeway {

class Team;

// Of each a call takes one flag at most.
inline constexpr gex_Flags_t kSelfSegment = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
                                            GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;
inline constexpr gex_Flags_t kPeerSegment = GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
                                            GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET;

// The address that an offset into a bound segment means.
const void* local_offset(const Team& team, const void* addr);
const void* local_offset(const Endpoint& ep, const void* addr);
void* remote_offset(const Peer& peer, const void* addr);

// The address an argument means: itself, or an offset into the bound segment. `Owner`: Team or
// Endpoint.
template <class Owner>
inline const void* local_address(const Owner& owner, const void* addr, gex_Flags_t flags) {
  if (__builtin_expect(!(flags & GEX_FLAG_SELF_SEG_OFFSET), 1)) return addr;
  return local_offset(owner, addr);
}
inline void* remote_address(const Peer& peer, void* addr, gex_Flags_t flags) {
  if (__builtin_expect(!(flags & GEX_FLAG_PEER_SEG_OFFSET), 1)) return addr;
  return remote_offset(peer, addr);
}

// The local registration that covers [addr, addr+length) in the connection's conduit, or NULL: of
// what is bound to `ep`, the endpoint that the operation began at.
cwyc_mem* local_registration(const Endpoint& ep, cwyc_conn* conn, const void* addr, size_t length);
// The same for a connection that is no stub.
inline cwyc_mem* local_registration(cwyc_conn* conn, const void* addr, size_t length) {
  const Connection& c = Connection::of(conn);
  const Segment* segment = c.peer->ep->segment();
  if (segment == nullptr || !segment->contains(reinterpret_cast<uint64_t>(addr), length))
    return nullptr;
  return segment->registration(c.cep->conduit);
}

// May the flags mean memory of the peer beyond its bound segment? Such memory is reached by active
// messages that the owner checks: PEER_SEG_SOME against its segments, PEER_SEG_UNKNOWN against what
// is mapped there at all.
inline bool may_be_elsewhere(gex_Flags_t flags) {
  return (flags & (GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME)) != 0;
}
// Does the range lie in the segment that the peer's endpoint has bound, as far as is known here?
bool in_bound_segment(const Peer& peer, uint64_t addr, size_t length);
// The same for an operation with these flags of the conduits' and kAnywhere, kUnbound. Peers are
// not told when a segment is destroyed, so an address that was named without a segment is known
// here only where the segment lasts.
inline bool in_known_segment(const Peer& peer, uint64_t addr, size_t length, uint32_t flags) {
  return in_bound_segment(peer, addr, length) && (!(flags & kUnbound) || peer.segment.lasting);
}

// With `checks: full` each ends the job: unless the range lies in the peer's bound segment;
void require_remote_range(const char* call, const Peer& peer, const void* addr, size_t length);
// where flags name two of either kind above;
void require_one_segment_flag(const char* call, gex_Flags_t flags);
// unless the local memory lies where flags say: in the segment bound to `ep`
// (GEX_FLAG_SELF_SEG_BOUND, _OFFSET), in any segments of this process (_SOME);
void require_local_range(const char* call, const Endpoint& ep, gex_Flags_t flags, const void* addr,
                         size_t length);
// where both ranges overlap, which can only be seen where the peer is this process.
void require_no_overlap(const char* call, const Peer& peer, const void* src, const void* dest,
                        size_t length);

}  // namespace causeway
