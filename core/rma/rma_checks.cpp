#include "rma/rma_checks.h"

#include "am/send.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "connection/job.h"
#include "object/endpoint.h"
#include "object/local.h"

namespace causeway {
namespace {

constexpr gex_Flags_t kCopy = GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO;
constexpr gex_Flags_t kNever = GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD;
constexpr gex_Flags_t kRmaFlags = GEX_FLAG_IMMEDIATE | kCopy | kNever | kSelfSegment | kPeerSegment;

}  // namespace

void check_peer_flags(const char* call, const Peer& peer, gex_Flags_t flags, gex_Flags_t known) {
  flags = flags_of_call(call, flags, known);
  if (flags & ~known)
    fatal(call, "flags {:#x} hold bits {:#x} that no call knows", flags, flags & ~known);
  require_one_segment_flag(call, flags);
  if ((flags & kCopy) == kCopy)
    fatal(call, "flags {:#x} name more than one of GEX_FLAG_LC_COPY_*", flags);
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

void check_rma(const RmaCall& call, const Peer& peer, const void* local, const void* remote) {
  check_peer_flags(call.name, peer, call.flags, kRmaFlags);
  if (call.length == 0) return;
  if (local == nullptr) fatal(call.name, "the local address is NULL");
  require_local_range(call.name, *peer.ep, call.flags, local, call.length);
  const bool put = call.operation == Operation::put;
  require_no_overlap(call.name, peer, put ? local : remote, put ? remote : local, call.length);
}

void check_lc_opt(const char* call, const gex_Event_t* lc_opt, bool groups) {
  if (lc_opt == GEX_EVENT_NOW || lc_opt == GEX_EVENT_DEFER) return;
  if (groups ? lc_opt == GEX_EVENT_GROUP : is_leaf_pointer(lc_opt)) return;
  fatal(call, "lc_opt must be GEX_EVENT_NOW, GEX_EVENT_DEFER or {}",
        groups ? "GEX_EVENT_GROUP" : "the address of an event");
}

}  // namespace causeway
