// State of messages per thread: its prepared send, and the buffer that it gave back last.
#pragma once

#include <causeway/conduit.h>
#include <gasnetex.h>

#include "am/send_buffer.h"
#include "thread/thread_state.h"

namespace causeway {

class Endpoint;
struct Peer;

enum class Negotiation : uint8_t { none, request_medium, request_long, reply_medium, reply_long };

constexpr bool is_reply(Negotiation kind) {
  return kind == Negotiation::reply_medium || kind == Negotiation::reply_long;
}
constexpr bool is_medium(Negotiation kind) {
  return kind == Negotiation::request_medium || kind == Negotiation::reply_medium;
}

// The state behind a gex_AM_SrcDesc_t. Each thread has one, because negotiations do not nest and
// a descriptor is committed by the thread that prepared it. Its base is what clients read.
// Everything but `kind` means something only while `kind` is not none, that is between Prepare and
// Commit.
struct NegotiatedSend : cwy_am_src_desc {
  Negotiation kind = Negotiation::none;
  bool from_client = false;  // the payload is in the client's buffer
  bool reserved = false;     // `slot` is held in the conduit
  unsigned nargs = 0;
  gex_Flags_t flags = 0;
  Endpoint* ep = nullptr;
  Peer* peer = nullptr;
  gex_Token_t token = nullptr;  // replies
  cwyc_conn* conn = nullptr;
  gex_Event_t* lc_opt = nullptr;
  void* dest_addr = nullptr;     // as it was given to Prepare
  SendBuffer* buffer = nullptr;  // the library's buffer of a long
  cwyc_am_slot slot{CWY_HEAD(cwyc_am_slot), nullptr, 0, {}};
};

class AmThread final : public ThreadPart {
 public:
  // Ends the job where something is prepared: nobody can commit it any more.
  void leave() override;

  NegotiatedSend negotiated;
  SendBufferCache send_buffers;
};

AmThread& make_am_thread(ThreadState& thread);

inline AmThread& am_thread(ThreadState& thread) {
  ThreadPart* const part = thread.part(ThreadSlot::am);
  return __builtin_expect(part != nullptr, 1) ? static_cast<AmThread&>(*part)
                                              : make_am_thread(thread);
}

}  // namespace causeway
