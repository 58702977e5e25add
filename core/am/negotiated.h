// Negotiated-payload active messages: Prepare, Commit, Cancel. The calls in api/ look at context
// and arguments first; what a descriptor needs stands in am/thread_part.h.
//
// Who holds what between Prepare and Commit:
//   medium, library buffer    room in the conduit's queue; the client writes where it is sent from
//   medium, client buffer     nothing; but with GEX_FLAG_IMMEDIATE room in the queue, so that the
//                             answer to Prepare is true and Commit need not wait
//   long, library buffer      a SendBuffer
//   long, client buffer       nothing
#pragma once

#include <gasnetex.h>

#include "am/thread_part.h"

namespace causeway {

struct PrepareCall {
  const char* name;
  Negotiation kind;
  Peer& peer;
  gex_Token_t token;  // replies
  const void* client_buf;
  size_t least, most;
  void* dest_addr;  // longs
  gex_Event_t* lc_opt;
  gex_Flags_t flags;
  unsigned numargs;
};

// Waits for room unless GEX_FLAG_IMMEDIATE forbids it: then GEX_AM_SRCDESC_NO_OP.
gex_AM_SrcDesc_t prepare(const PrepareCall& call, ThreadState& thread);

struct CommitCall {
  const char* name;
  Negotiation kind;
  gex_AM_SrcDesc_t sd;
  gex_AM_Index_t handler;
  size_t nbytes;
  void* dest_addr;  // longs
  gex_Flags_t flags;
  unsigned nargs;
  const gex_AM_Arg_t* args;
};

// 0, or 1 for the no-op answer of GEX_FLAG_IMMEDIATE; the descriptor is then still prepared.
int commit(const CommitCall& call);

// Gives back what Prepare took.
void cancel(const char* name, Negotiation kind, gex_AM_SrcDesc_t sd, gex_Flags_t flags);

// Ends the job: what this thread had prepared can no longer be committed, because of `end`. Others
// would wait for the room it holds.
[[noreturn]] void left_prepared(Negotiation kind, const char* end);

}  // namespace causeway
