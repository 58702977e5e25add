#include "am/send.h"

#include "am/internal.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "loader/one_line.h"
#include "object/connect.h"
#include "object/local.h"
#include "object/team.h"

namespace causeway {
namespace {

// The flags that a send takes: all but those that only gex_AM_Max*() takes.
constexpr gex_Flags_t kOfSends =
    kFlagBits & ~(GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC);

}  // namespace

void check_payload(const PayloadFacts& f) {
  require_capability(f.call, *f.peer.ep, GEX_EP_CAPABILITY_AM, "AM");
  (void)flags_of_call(f.call, f.flags, kOfSends);
  require_one_segment_flag(f.call, f.flags);
  if (f.length != 0 && f.src == nullptr)
    fatal(f.call, "source_addr is NULL, with a payload of {} bytes", f.length);
  if (f.length != 0)
    require_local_range(f.call, *f.peer.ep, f.flags & ~GEX_FLAG_SELF_SEG_SOME, f.src, f.length);
  if (!f.is_long || f.length == 0) return;
  if (!may_be_elsewhere(f.flags)) require_remote_range(f.call, f.peer, f.dest, f.length);
  require_no_overlap(f.call, f.peer, f.src, f.dest, f.length);
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
  if (thread.context == Context::request_handler)
    fatal(call,
          "called inside a request handler; only a reply and the queries of \"Calls from "
          "restricted context\" are allowed there");
  if (thread.context == Context::negotiating)
    fatal(call,
          "called between gex_AM_Prepare*() and its Commit or Cancel, where no communication is "
          "allowed");
  if (thread.context == Context::reply_handler)
    fatal(call, "called inside a reply handler, where no communication is allowed");
  if (thread.context == Context::reduction)
    fatal(call,
          "called inside a reduction operator of the client's; only what is allowed while a "
          "handler-safe lock is held may be called there");
  locks_held(call, thread);
}

void locks_held(const char* call, const ThreadState& thread) {
  if (thread.hsl_held & kNoInterrupts)
    fatal(call, "called inside a no-interrupt section; call gasnet_resume_interrupts() first");
  fatal(call, "called while holding {} handler-safe lock(s); unlock before communicating",
        thread.hsl_held);
}

void refuse_reply(const char* call, gex_Token_t token) {
  const ThreadState& thread = thread_state();
  if (thread.context == Context::negotiating) forbidden_here(call, thread);
  if (!token->is_request || thread.context != Context::request_handler)
    fatal(call, "called outside a request handler; only a request can be replied to");
  if (token->replied)
    fatal(call, "this request has been replied to already; a handler may reply once");
  forbidden_here(call, thread);
}

void require_rank(const char* call, gex_TM_t tm, gex_Rank_t rank) {
  if (tm == GEX_TM_INVALID) fatal(call, "the team is GEX_TM_INVALID");
  if (rank >= tm->size)
    fatal(call, "rank {} does not exist in a team of {} members", rank, tm->size);
}

void send_failed(const Peer& to, cwy_status status) {
  const bool unchecked = status == CWY_ERR_INVALID && !context().checks();
  const char* const advice = unchecked ? "; 'checks: full' names the call at fault"
                             : is_status(status)
                                 ? ""
                                 : ": the plugin of the conduit that serves it is at fault";
  const std::string text =
      fmt::format("a message to rank {} failed with {}{}", to.rank, reason({}, status), advice);
  if (status == CWY_ERR_PEER_FAILED) end_without(to.rank, text);
  fatal_text("communication", text);
}

}  // namespace causeway
