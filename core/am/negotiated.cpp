#include "am/negotiated.h"

#include <algorithm>
#include <cstddef>

#include "am/completion.h"
#include "am/emulated_prepare.h"
#include "am/internal.h"
#include "am/limits.h"
#include "am/post_long.h"
#include "am/send.h"
#include "am/send_buffer.h"
#include "am/token.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "connection/post_flags.h"
#include "connection/word.h"
#include "kinds/places.h"
#include "object/endpoint.h"
#include "object/local.h"

namespace causeway {
namespace {

uint32_t lane(Negotiation kind) {
  static_assert(CWYC_LANE_REPLY == 1);
  return is_reply(kind);
}

// ---- Prepare ----

void require_lengths(const PrepareCall& call, size_t limit) {
  if (call.numargs > gex_AM_MaxArgs())
    fatal(call.name, "numargs is {}; a message has at most {}", call.numargs, gex_AM_MaxArgs());
  if (call.least > limit) {
    fatal(call.name,
          "least_payload of {} bytes is over the limit of {} (gex_AM_Max*() with "
          "GEX_FLAG_AM_PREPARE_LEAST_{} tells it)",
          call.least, limit, call.client_buf != nullptr ? "CLIENT" : "ALLOC");
  }
  if (call.least > call.most) {
    fatal(call.name, "least_payload is {}, more than most_payload, which is {}", call.least,
          call.most);
  }
}

void require_completion(const PrepareCall& call) {
  if (call.client_buf == nullptr) {
    if (call.lc_opt == nullptr) return;
    fatal(call.name, "lc_opt must be NULL when client_buf is NULL");
  }
  if (is_leaf_pointer(call.lc_opt) || call.lc_opt == GEX_EVENT_NOW) return;
  if (call.lc_opt == GEX_EVENT_GROUP && !is_reply(call.kind)) return;
  fatal(call.name, "with a client_buf, lc_opt must be GEX_EVENT_NOW, {}or the address of an event",
        is_reply(call.kind) ? "" : "GEX_EVENT_GROUP ");
}

// With `checks: full`.
void check_flags(const PrepareCall& call) {
  if (call.flags & GEX_FLAG_SELF_SEG_OFFSET)
    fatal(call.name, "GEX_FLAG_SELF_SEG_OFFSET is not allowed in negotiated calls");
  if (call.client_buf == nullptr && (call.flags & kSelfSegment))
    fatal(call.name, "GEX_FLAG_SELF_SEG_* say something of a client_buf, but it is NULL");
  constexpr gex_Flags_t kIgnored =
      GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  // A destination that is only known at Commit is looked at there.
  const bool is_long = !is_medium(call.kind) && call.dest_addr != nullptr;
  void* const dest = is_long ? remote_address(call.peer, call.dest_addr, call.flags) : nullptr;
  check_payload({call.name, call.peer, call.client_buf, 0, is_long, dest, call.flags & ~kIgnored});
}

cwy_status take_buffer(const PrepareCall& call, size_t room, NegotiatedSend& sd) {
  sd.buffer = take_send_buffer(room, is_reply(call.kind));
  if (sd.buffer == nullptr) return CWY_RETRY;
  sd.cwy_addr = sd.buffer->data();
  return CWY_OK;
}

// Takes what has to be held until Commit. CWY_RETRY: there is no room now.
cwy_status acquire(const PrepareCall& call, size_t room, NegotiatedSend& sd) {
  cwyc_conn* conn = am_connection(call.peer);
  if (__builtin_expect(conn == nullptr, 0)) return CWY_RETRY;
  const uint32_t flags = lane(call.kind);
  const bool immediate = (call.flags & GEX_FLAG_IMMEDIATE) != 0;
  const bool from_client = call.client_buf != nullptr;
  sd.conn = conn;
  sd.reserved = false;
  sd.buffer = nullptr;
  sd.cwy_addr = const_cast<void*>(call.client_buf);
  sd.cwy_size = room;
  if (is_medium(call.kind)) {
    if (from_client && (!immediate || prepares_by_emulation(conn))) return CWY_OK;
    const cwy_status status =
        conn->ops->am_prepare(conn, call.least, room, call.numargs, flags, &sd.slot);
    if (status != CWY_OK) return status;
    sd.reserved = true;
    sd.cwy_size = std::min<size_t>(room, sd.slot.length);
    if (!from_client) sd.cwy_addr = sd.slot.buffer;
    return CWY_OK;
  }
  // The conduit's queue holds a long's header and no payload: ask for the least there is.
  if (immediate && !prepares_by_emulation(conn)) {
    const cwy_status status = conn->ops->am_prepare(conn, 0, 0, call.numargs, flags, &sd.slot);
    if (status != CWY_OK) return status;
    conn->ops->am_cancel(conn, &sd.slot);
  }
  return from_client ? cwy_status{CWY_OK} : take_buffer(call, room, sd);
}

// Makes progress until there is room. False for the no-op answer of GEX_FLAG_IMMEDIATE. Handlers
// run meanwhile may negotiate on this thread: what `acquire` wrote before it failed means nothing.
__attribute__((cold, noinline)) bool acquire_slowly(const PrepareCall& call, size_t room,
                                                    NegotiatedSend& sd, cwy_status status) {
  SendingWait wait(*call.peer.ep);
  while (status == CWY_RETRY) {
    wait.step();
    if (call.flags & GEX_FLAG_IMMEDIATE) return false;
    status = acquire(call, room, sd);
  }
  if (status != CWY_OK) send_failed(call.peer, status);
  return true;
}

// ---- Commit ----

const char* what(Negotiation kind) {
  switch (kind) {
    case Negotiation::request_medium:
      return "gex_AM_PrepareRequestMedium()";
    case Negotiation::request_long:
      return "gex_AM_PrepareRequestLong()";
    case Negotiation::reply_medium:
      return "gex_AM_PrepareReplyMedium()";
    case Negotiation::reply_long:
      return "gex_AM_PrepareReplyLong()";
    case Negotiation::none:
      break;
  }
  return "nothing";
}

[[noreturn]] __attribute__((cold, noinline)) void wrong_descriptor(const char* call,
                                                                   Negotiation kind,
                                                                   gex_AM_SrcDesc_t sd,
                                                                   const NegotiatedSend& own) {
  if (sd == GEX_AM_SRCDESC_NO_OP)
    fatal(call, "the descriptor is GEX_AM_SRCDESC_NO_OP: nothing was prepared");
  if (sd != &own)
    fatal(call, "the descriptor was not prepared by this thread, which alone may use it");
  if (own.kind == Negotiation::none)
    fatal(call, "the descriptor has been committed or cancelled already; it can be used once");
  fatal(call, "the descriptor comes from {}, expected {}", what(own.kind), what(kind));
}

inline NegotiatedSend& descriptor(const char* call, Negotiation kind, gex_AM_SrcDesc_t sd,
                                  ThreadState& thread) {
  NegotiatedSend& own = am_thread(thread).negotiated;
  if (__builtin_expect(sd != &own || own.kind != kind, 0)) wrong_descriptor(call, kind, sd, own);
  if (__builtin_expect(thread.hsl_held != 0, 0)) locks_held(call, thread);
  return own;
}

void require_commit(const CommitCall& call, const NegotiatedSend& sd) {
  if (__builtin_expect(call.nargs != sd.nargs, 0)) {
    fatal(call.name, "{} arguments are given, but numargs was {} in {}", call.nargs, sd.nargs,
          what(sd.kind));
  }
  if (__builtin_expect(call.nbytes > sd.cwy_size, 0))
    fatal(call.name, "nbytes is {}, but gex_AM_SrcDescSize() is {}", call.nbytes, sd.cwy_size);
}

// With `checks: full`.
void check_commit(const CommitCall& call, const NegotiatedSend& sd, const void* dest) {
  const bool is_long = !is_medium(sd.kind);
  if (is_long && sd.dest_addr != nullptr && sd.dest_addr != call.dest_addr) {
    fatal(call.name, "dest_addr is {}, but {} was told {}",
          static_cast<const void*>(call.dest_addr), what(sd.kind),
          static_cast<const void*>(sd.dest_addr));
  }
  constexpr gex_Flags_t kIgnored =
      GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  check_payload(
      {call.name, *sd.peer, sd.cwy_addr, call.nbytes, is_long, dest, sd.flags & ~kIgnored});
}

// The descriptor is free for handlers that run during the Commit; a no-op brings it back.
// Both are the thread's own.
void close(ThreadState& thread, NegotiatedSend& open) {
  const bool reply = is_reply(open.kind);
  open.kind = Negotiation::none;
  thread.enter(reply ? Context::request_handler : Context::client);
}
void reopen(ThreadState& thread, NegotiatedSend& open, const NegotiatedSend& sd) {
  open = sd;
  thread.enter(Context::negotiating);
}

// Posts until accepted, or once. CWY_OK, CWY_INPROGRESS, or CWY_RETRY for the no-op answer.
template <typename Post>
cwy_status post(const NegotiatedSend& sd, gex_Flags_t flags, Post&& attempt) {
  cwy_status status = attempt();
  if (__builtin_expect(status == CWY_RETRY, 0) && !(flags & GEX_FLAG_IMMEDIATE)) {
    SendingWait wait(*sd.ep);
    do {
      wait.step();
      status = attempt();
    } while (status == CWY_RETRY);
  }
  if (is_error(status) && status != CWY_RETRY) send_failed(*sd.peer, status);
  return status;
}

// From the client's buffer, like a message with a fixed payload.
template <typename Completion>
cwy_status post_from_client(const CommitCall& call, const NegotiatedSend& sd, uint64_t word,
                            void* dest, ThreadState& thread) {
  Completion completion(call.name, thread, sd.lc_opt);
  const uint32_t flags = lane(sd.kind) |
                         (conduit_flags(sd.flags) & (CWYC_SRC_VOLATILE | kAnywhere | kUnbound)) |
                         (conduit_flags(call.flags) & kImmediate) | completion.flags(call.flags);
  const cwy_status status = post(sd, call.flags, [&] {
    if (!is_medium(sd.kind)) {
      return post_long(sd.conn, word, call.args, call.nargs, sd.cwy_addr, call.nbytes, dest, flags,
                       completion.op());
    }
    return sd.conn->ops->am_medium(sd.conn, word, call.args, call.nargs, sd.cwy_addr,
                                   local_registration(sd.conn, sd.cwy_addr, call.nbytes),
                                   call.nbytes, flags, completion.op());
  });
  if (status == CWY_RETRY)
    completion.refused();
  else
    completion.accepted(status);
  return status;
}

cwy_status post_from_buffer(const CommitCall& call, const NegotiatedSend& sd, uint64_t word,
                            void* dest) {
  const uint32_t flags = lane(sd.kind) | (conduit_flags(sd.flags) & (kAnywhere | kUnbound)) |
                         (conduit_flags(call.flags) & kImmediate);
  const cwy_status status = post(sd, call.flags, [&] {
    if (!is_medium(sd.kind)) {
      return post_long(sd.conn, word, call.args, call.nargs, sd.buffer->data(), call.nbytes, dest,
                       flags, &sd.buffer->op);
    }
    return sd.conn->ops->am_medium(sd.conn, word, call.args, call.nargs, sd.buffer->data(), nullptr,
                                   call.nbytes, flags, &sd.buffer->op);
  });
  if (status == CWY_OK) give_send_buffer(sd.buffer);
  return status;
}

// The conduit has kept room: this cannot fail, except where the core only pretends to have it.
cwy_status post_reserved(const CommitCall& call, NegotiatedSend& sd, uint64_t word) {
  if (sd.from_client) copy_bytes(call.name, sd.slot.buffer, sd.cwy_addr, call.nbytes);
  if (__builtin_expect(call.flags & GEX_FLAG_IMMEDIATE, 0) && prepares_by_emulation(sd.conn))
    return try_emulated_commit(sd.conn, &sd.slot, word, call.args, call.nargs, call.nbytes);
  // The source is free already; nothing was put into the thread's implicit set.
  if (sd.from_client && is_leaf_pointer(sd.lc_opt)) *sd.lc_opt = GEX_EVENT_INVALID;
  sd.conn->ops->am_commit(sd.conn, &sd.slot, word, call.args, call.nargs, call.nbytes);
  return CWY_OK;
}

}  // namespace

gex_AM_SrcDesc_t prepare(const PrepareCall& call, ThreadState& thread) {
  const size_t limit = payload_limit(limits_of(call.peer), is_medium(call.kind),
                                     call.client_buf == nullptr ? GEX_FLAG_AM_PREPARE_LEAST_ALLOC
                                                                : GEX_FLAG_AM_PREPARE_LEAST_CLIENT);
  if (__builtin_expect(
          call.numargs > gex_AM_MaxArgs() || call.least > limit || call.least > call.most, 0))
    require_lengths(call, limit);
  require_completion(call);
  if (__builtin_expect(context().checks(), 0)) check_flags(call);
  const size_t room = std::min(call.most, limit);
  NegotiatedSend& sd = am_thread(thread).negotiated;
  const cwy_status status = acquire(call, room, sd);
  if (__builtin_expect(status != CWY_OK, 0) && !acquire_slowly(call, room, sd, status))
    return GEX_AM_SRCDESC_NO_OP;
  sd.kind = call.kind;
  sd.from_client = call.client_buf != nullptr;
  sd.nargs = call.numargs;
  sd.flags = call.flags;
  sd.ep = call.peer.ep;
  sd.peer = &call.peer;
  sd.token = call.token;
  sd.lc_opt = call.lc_opt;
  sd.dest_addr = call.dest_addr;
  thread.enter(Context::negotiating);
  return &sd;
}

int commit(const CommitCall& call) {
  ThreadState& thread = thread_state();
  NegotiatedSend& open = descriptor(call.name, call.kind, call.sd, thread);
  require_commit(call, open);
  void* const dest =
      is_medium(call.kind) ? nullptr : remote_address(*open.peer, call.dest_addr, open.flags);
  if (__builtin_expect(context().checks(), 0)) check_commit(call, open, dest);
  const uint64_t word =
      client_word(call.handler, open.ep->index()) | (is_reply(call.kind) ? kWordReply : 0);
  // Handlers that run from here on, in this very call or while it waits, may negotiate too.
  NegotiatedSend sd = open;
  close(thread, open);
  cwy_status status;
  if (sd.reserved)
    status = post_reserved(call, sd, word);
  else if (!sd.from_client)
    status = post_from_buffer(call, sd, word, dest);
  else if (is_reply(call.kind))
    status = post_from_client<ReplyCompletion>(call, sd, word, dest, thread);
  else
    status = post_from_client<RequestCompletion>(call, sd, word, dest, thread);
  if (__builtin_expect(status != CWY_RETRY, 1)) return 0;
  reopen(thread, open, sd);
  return 1;
}

void cancel(const char* name, Negotiation kind, gex_AM_SrcDesc_t sd, gex_Flags_t flags) {
  ThreadState& thread = thread_state();
  NegotiatedSend& open = descriptor(name, kind, sd, thread);
  require_no_flags(name, flags);
  if (open.reserved) open.conn->ops->am_cancel(open.conn, &open.slot);
  if (open.buffer != nullptr) give_send_buffer(open.buffer);
  if (open.token != nullptr) open.token->replied = false;
  close(thread, open);
}

void AmThread::leave() {
  if (negotiated.kind != Negotiation::none) left_prepared(negotiated.kind, "thread ended");
}

AmThread& make_am_thread(ThreadState& thread) {
  auto& part = thread.parts[static_cast<size_t>(ThreadSlot::am)];
  part = std::make_unique<AmThread>();
  return static_cast<AmThread&>(*part);
}

void left_prepared(Negotiation kind, const char* end) {
  fatal(what(kind), "the {} without committing or cancelling what it had prepared", end);
}

}  // namespace causeway
