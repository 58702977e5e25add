#include "am/send.h"

#include <bit>

#include "am/internal.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/segment.h"
#include "object/team.h"

namespace causeway {
namespace {

constexpr gex_Flags_t kSelfDisposition = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
                                         GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;
constexpr gex_Flags_t kPeerDisposition = GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
                                         GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET;

// The flags that a send takes: all but those that only gex_AM_Max*() takes.
constexpr gex_Flags_t kOfSends =
    kFlagBits & ~(GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC);

void check_flags(const PayloadFacts& f) {
  (void)flags_of_call(f.call, f.flags, kOfSends);
  if (std::popcount(f.flags & kSelfDisposition) > 1) {
    fatal(f.call, "flags name more than one of GEX_FLAG_SELF_SEG_*");
  }
  if (std::popcount(f.flags & kPeerDisposition) > 1) {
    fatal(f.call, "flags name more than one of GEX_FLAG_PEER_SEG_*");
  }
}

void check_source(const PayloadFacts& f) {
  if (f.length != 0 && f.src == nullptr) {
    fatal(f.call, "source_addr is NULL, with a payload of {} bytes", f.length);
  }
  if (f.length == 0 || !(f.flags & (GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET))) return;
  const Segment* segment = f.peer.ep->segment();
  if (segment == nullptr) {
    fatal(f.call, "flags say that the source lies in the bound segment, but none is bound here");
  }
  const auto base = reinterpret_cast<uint64_t>(segment->addr());
  const auto at = reinterpret_cast<uint64_t>(f.src);
  if (at >= base && f.length <= segment->size() && at - base <= segment->size() - f.length) return;
  fatal(f.call,
        "flags say that the source lies in the bound segment, but [{:#x}, {:#x}) is outside the "
        "segment [{:#x}, {:#x})",
        at, at + f.length, base, base + segment->size());
}

// Overlap can only be seen where both ranges are this process's own.
void check_overlap(const PayloadFacts& f) {
  if (f.peer.rank != context().rank() || f.length == 0) return;
  const auto src = reinterpret_cast<uint64_t>(f.src), dest = reinterpret_cast<uint64_t>(f.dest);
  if (src < dest + f.length && dest < src + f.length) {
    fatal(f.call, "source [{:#x}, {:#x}) and destination [{:#x}, {:#x}) overlap", src,
          src + f.length, dest, dest + f.length);
  }
}

}  // namespace

void check_payload(const PayloadFacts& facts) {
  require_capability(facts.call, *facts.peer.ep, GEX_EP_CAPABILITY_AM, "AM");
  check_flags(facts);
  check_source(facts);
  if (!facts.is_long) return;
  if (!may_be_elsewhere(facts.flags)) {
    require_remote_range(facts.call, facts.peer, facts.dest, facts.length);
  }
  check_overlap(facts);
}

void payload_too_long(const char* call, size_t nbytes, size_t limit) {
  fatal(call, "a payload of {} bytes is over the limit of {} (gex_AM_Max*() tells it)", nbytes,
        limit);
}

cwyc_conn* connect_for_messages(Peer& peer) {
  const cwy_status status = or_fatal("gex_AM_*()", [&] { return connect_peer(peer); });
  return status == CWY_OK ? peer.am.load(std::memory_order_acquire) : nullptr;
}

void forbidden_here(const char* call, const ThreadState& thread) {
  if (thread.context == Context::request_handler) {
    fatal(call,
          "called inside a request handler; only a reply and the queries of \"Calls from "
          "restricted context\" are allowed there");
  }
  if (thread.context == Context::negotiating) {
    fatal(call,
          "called between gex_AM_Prepare*() and its Commit or Cancel, where no communication is "
          "allowed");
  }
  if (thread.context == Context::reply_handler) {
    fatal(call, "called inside a reply handler, where no communication is allowed");
  }
  if (thread.context == Context::reduction) {
    fatal(call,
          "called inside a reduction operator of the client's; only what is allowed while a "
          "handler-safe lock is held may be called there");
  }
  locks_held(call, thread);
}

void locks_held(const char* call, const ThreadState& thread) {
  if (thread.hsl_held & kNoInterrupts) {
    fatal(call, "called inside a no-interrupt section; call gasnet_resume_interrupts() first");
  }
  fatal(call, "called while holding {} handler-safe lock(s); unlock before communicating",
        thread.hsl_held);
}

void refuse_reply(const char* call, gex_Token_t token) {
  const ThreadState& thread = thread_state();
  if (thread.context == Context::negotiating) forbidden_here(call, thread);
  if (!token->is_request || thread.context != Context::request_handler) {
    fatal(call, "called outside a request handler; only a request can be replied to");
  }
  if (token->replied) {
    fatal(call, "this request has been replied to already; a handler may reply once");
  }
  forbidden_here(call, thread);
}

void require_rank(const char* call, gex_TM_t tm, gex_Rank_t rank) {
  if (tm == GEX_TM_INVALID) fatal(call, "the team is GEX_TM_INVALID");
  if (rank >= tm->size) {
    fatal(call, "rank {} does not exist in a team of {} members", rank, tm->size);
  }
}

void send_failed(const Peer& to, cwy_status status) {
  const std::string text =
      fmt::format("a message to rank {} failed with {}", to.rank, status_name(status));
  if (status == CWY_ERR_PEER_FAILED) end_without(to.rank, text);
  fatal_text("communication", text);
}

}  // namespace causeway
