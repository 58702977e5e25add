#include "object/local.h"

#include "base/fatal.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "object/team.h"

namespace causeway {

const void* local_offset(const Team& team, const void* addr) {
  return local_offset(*team.ep(), addr);
}

const void* local_offset(const Endpoint& ep, const void* addr) {
  const Segment* segment = ep.segment();
  if (segment == nullptr) fatal("GEX_FLAG_SELF_SEG_OFFSET", "no segment is bound here");
  return static_cast<const char*>(segment->addr()) + reinterpret_cast<uintptr_t>(addr);
}

void* remote_offset(const Peer& peer, const void* addr) {
  if (peer.segment.size.load(std::memory_order_acquire) == 0) {
    fatal("GEX_FLAG_PEER_SEG_OFFSET", "rank {} has no bound segment known here", peer.rank);
  }
  return reinterpret_cast<void*>(peer.segment.base + reinterpret_cast<uintptr_t>(addr));
}

cwyc_mem* local_registration(const Endpoint& ep, cwyc_conn* conn, const void* addr, size_t length) {
  return is_stub(conn) || Connection::of(conn).peer->ep != &ep
             ? nullptr
             : local_registration(conn, addr, length);
}

bool in_bound_segment(const Peer& peer, uint64_t addr, size_t length) {
  const uint64_t size = peer.segment.size.load(std::memory_order_acquire);
  return size != 0 && addr >= peer.segment.base && addr - peer.segment.base <= size &&
         length <= size - (addr - peer.segment.base);
}

void require_remote_range(const char* call, const Peer& peer, const void* addr, size_t length) {
  if (length == 0) return;
  const uint64_t size = peer.segment.size.load(std::memory_order_acquire);
  if (size == 0) fatal(call, "rank {} has no bound segment known here", peer.rank);
  const auto at = reinterpret_cast<uint64_t>(addr);
  if (in_bound_segment(peer, at, length)) return;
  fatal(call, "[{:#x}, {:#x}) is outside the segment [{:#x}, {:#x}) of rank {}", at, at + length,
        peer.segment.base, peer.segment.base + size, peer.rank);
}

}  // namespace causeway
