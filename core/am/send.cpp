#include "am/send.h"

#include "am/internal.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/team.h"

namespace causeway {

void forbidden_here(const char* call, const ThreadState& thread) {
  if (thread.context == Context::request_handler) {
    fatal(call,
          "called inside a request handler; only a reply and the queries of \"Calls from "
          "restricted context\" are allowed there");
  }
  if (thread.context == Context::reply_handler) {
    fatal(call, "called inside a reply handler, where no communication is allowed");
  }
  fatal(call, "called while holding {} handler-safe lock(s); unlock before communicating",
        thread.hsl_held);
}

void require_rank(const char* call, gex_TM_t tm, gex_Rank_t rank) {
  if (tm == GEX_TM_INVALID) fatal(call, "the team is GEX_TM_INVALID");
  if (rank >= tm->size) {
    fatal(call, "rank {} does not exist in a team of {} members", rank, tm->size);
  }
}

void operation_failed(cwyc_op*, cwy_status status) {
  const std::string text = fmt::format("an operation failed with {}", status_name(status));
  if (status == CWY_ERR_PEER_FAILED) fatal_peer_lost("communication", text);
  fatal_text("communication", text);
}

void send_failed(const Peer& to, cwy_status status) {
  const std::string text =
      fmt::format("a message to rank {} failed with {}", to.rank, status_name(status));
  if (status == CWY_ERR_PEER_FAILED) fatal_peer_lost("communication", text);
  fatal_text("communication", text);
}

}  // namespace causeway
