#include "rma/rma_checks.h"

#include <bit>

#include "am/send.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "connection/job.h"
#include "object/endpoint.h"
#include "object/segment.h"

namespace causeway {
namespace {

constexpr gex_Flags_t kSelf = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
                              GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;
constexpr gex_Flags_t kPeer = GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
                              GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET;
constexpr gex_Flags_t kCopy = GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO;
constexpr gex_Flags_t kNever = GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD;
constexpr gex_Flags_t kRmaFlags = GEX_FLAG_IMMEDIATE | kCopy | kNever | kSelf | kPeer;

bool in_own_segment(const Peer& peer, uint64_t at, uint64_t length) {
  const Segment* segment = peer.ep->segment();
  if (segment == nullptr) return false;
  const auto base = reinterpret_cast<uint64_t>(segment->addr());
  return at >= base && length <= segment->size() && at - base <= segment->size() - length;
}

}  // namespace

void check_peer_flags(const char* call, const Peer& peer, gex_Flags_t flags, gex_Flags_t known) {
  flags = flags_of_call(call, flags, known);
  if (flags & ~known) {
    fatal(call, "flags {:#x} hold bits {:#x} that no call knows", flags, flags & ~known);
  }
  for (const auto& [mask, names] :
       {std::pair{kSelf, "GEX_FLAG_SELF_SEG_*"}, std::pair{kPeer, "GEX_FLAG_PEER_SEG_*"},
        std::pair{kCopy, "GEX_FLAG_LC_COPY_*"}}) {
    if (std::popcount(flags & mask) > 1) {
      fatal(call, "flags {:#x} name more than one of {}", flags, names);
    }
  }
  if (!(flags & kNever)) return;
  if (peer.rank == context().rank()) {
    fatal(call, "flags {:#x} promise that the peer is not this process, but it is (job rank {})",
          flags, peer.rank);
  }
  if (!(flags & GEX_FLAG_PEER_NEVER_NBRHD)) return;
  for (const RankInfo& neighbor : context().job().nbrhd()) {
    if (neighbor.gex_jobrank != peer.rank) continue;
    fatal(call, "flags {:#x} promise a peer outside the neighborhood, but job rank {} is in it",
          flags, peer.rank);
  }
}

void check_local_segment(const char* call, const Peer& peer, gex_Flags_t flags, uint64_t addr,
                         uint64_t length) {
  if ((flags & GEX_FLAG_SELF_SEG_SOME) && !in_any_segment(addr, length)) {
    fatal(call,
          "flags {:#x} say that the local memory lies in segments, but [{:#x}, {:#x}) is in none",
          flags, addr, addr + length);
  }
  if (!(flags & (GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET))) return;
  if (in_own_segment(peer, addr, length)) return;
  fatal(call,
        "flags {:#x} say that the local memory lies in the bound segment, but [{:#x}, {:#x}) does "
        "not",
        flags, addr, addr + length);
}

void check_rma(const RmaCall& call, const Peer& peer, const void* local, const void* remote) {
  check_peer_flags(call.name, peer, call.flags, kRmaFlags);
  if (call.length == 0) return;
  const auto near = reinterpret_cast<uint64_t>(local), far = reinterpret_cast<uint64_t>(remote);
  if (near == 0) fatal(call.name, "the local address is NULL");
  check_local_segment(call.name, peer, call.flags, near, call.length);
  // Overlap can only be seen where the peer is this process.
  if (peer.rank == context().rank() && near < far + call.length && far < near + call.length) {
    fatal(call.name, "source and destination overlap");
  }
}

void check_lc_opt(const char* call, const gex_Event_t* lc_opt, bool groups) {
  if (lc_opt == GEX_EVENT_NOW || lc_opt == GEX_EVENT_DEFER) return;
  if (groups ? lc_opt == GEX_EVENT_GROUP : is_leaf_pointer(lc_opt)) return;
  fatal(call, "lc_opt must be GEX_EVENT_NOW, GEX_EVENT_DEFER or {}",
        groups ? "GEX_EVENT_GROUP" : "the address of an event");
}

}  // namespace causeway
