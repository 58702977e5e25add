#include "object/local.h"

#include <bit>

#include "base/context.h"
#include "base/fatal.h"
#include "object/connect.h"
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
  if (peer.segment.size.load(std::memory_order_acquire) == 0)
    fatal("GEX_FLAG_PEER_SEG_OFFSET", "rank {} has no bound segment known here", peer.rank);
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

void require_one_segment_flag(const char* call, gex_Flags_t flags) {
  for (const auto& [mask, which] :
       {std::pair{kSelfSegment, "SELF"}, std::pair{kPeerSegment, "PEER"}}) {
    if (std::popcount(flags & mask) <= 1) continue;
    fatal(call, "flags {:#x} name more than one of GEX_FLAG_{}_SEG_*", flags, which);
  }
}

void require_local_range(const char* call, const Endpoint& ep, gex_Flags_t flags, const void* addr,
                         size_t length) {
  const auto at = reinterpret_cast<uint64_t>(addr);
  if ((flags & GEX_FLAG_SELF_SEG_SOME) && !in_any_segment(at, length)) {
    fatal(call,
          "flags {:#x} say that the local memory lies in segments, but [{:#x}, {:#x}) is in none",
          flags, at, at + length);
  }
  if (!(flags & (GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET))) return;
  const Segment* segment = ep.segment();
  if (segment != nullptr && segment->contains(at, length)) return;
  fatal(call, "flags {:#x} say that the local memory lies in the bound segment, but {}", flags,
        segment == nullptr ? "none is bound here"
                           : fmt::format("[{:#x}, {:#x}) is outside of it", at, at + length));
}

void require_no_overlap(const char* call, const Peer& peer, const void* src, const void* dest,
                        size_t length) {
  const auto from = reinterpret_cast<uint64_t>(src), to = reinterpret_cast<uint64_t>(dest);
  if (peer.rank != context().rank() || from >= to + length || to >= from + length) return;
  fatal(call, "source [{:#x}, {:#x}) and destination [{:#x}, {:#x}) overlap", from, from + length,
        to, to + length);
}

}  // namespace causeway
