#include "am/deliver.h"

#include "am/emulated_long.h"
#include "am/held.h"
#include "am/internal.h"
#include "am/negotiated.h"
#include "am/token.h"
#include "base/context.h"
#include "base/fatal.h"
#include "connection/word.h"
#include "object/endpoint.h"
#include "thread/thread_state.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

// The name of the call that sent this message, which the program's author will look for.
std::string sending_call(const Peer& from, uint64_t word, uint32_t kind) {
  constexpr const char* kCategory[] = {"Short", "Medium", "Long"};
  return fmt::format("gex_AM_{}{}() of rank {}", (word & kWordReply) ? "Reply" : "Request",
                     kCategory[kind], from.rank);
}

const char* name_of(const gex_AM_Entry_t& entry) {
  return entry.gex_name != nullptr ? entry.gex_name : "unnamed";
}

[[noreturn]] __attribute__((cold)) void misdirected(const Peer& from, const gex_AM_Entry_t& entry,
                                                    uint64_t word, uint32_t kind) {
  const std::string call = sending_call(from, word, kind);
  if (entry.gex_fnptr == nullptr) {
    fatal(call.c_str(),
          "handler index {} is not registered at this rank; call gex_EP_RegisterHandlers() and "
          "synchronise before the first message",
          word_handler(word));
  }
  fatal(call.c_str(), "handler index {} ('{}') is not registered for this kind of message here",
        word_handler(word), name_of(entry));
}

[[noreturn]] __attribute__((cold)) void miscounted(const Peer& from, const gex_AM_Entry_t& entry,
                                                   uint64_t word, uint32_t kind, unsigned nargs) {
  fatal(sending_call(from, word, kind).c_str(),
        "handler index {} ('{}') takes {} arguments, but {} came", word_handler(word),
        name_of(entry), entry.gex_nargs, nargs);
}

// The flags that a handler must be registered with, by the conduit's category.
constexpr gex_Flags_t kCategoryFlag[] = {GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM, GEX_FLAG_AM_LONG};
static_assert(CWYC_AM_SHORT == 0 && CWYC_AM_MEDIUM == 1 && CWYC_AM_LONG == 2);

// The sender of a routed message, as the endpoint that the message names sees it.
Peer& addressed(const Peer& base, uint64_t word) {
  const Route route = word_route(word);
  Endpoint* ep = find_endpoint(route.client, route.to);
  if (ep == nullptr || route.from >= Endpoint::kMaxEndpoints) {
    fatal("communication",
          "rank {} names the endpoint with index {} of this rank, but there is no endpoint with "
          "index {} here; gex_EP_Create() makes it",
          base.rank, route.to, route.to);
  }
  return ep->peer(route.from, base.rank);
}

// A message whose handler was not found. False: it was kept for later. True: the handler came, and
// the keeping of messages ended, after the look that did not find it (am/held.h).
__attribute__((cold, noinline)) bool found_late(Peer& from, uint64_t word, uint32_t kind,
                                                gex_Flags_t need, const int32_t* args,
                                                unsigned nargs, void* payload, size_t length) {
  if (hold(from, word, kind, args, nargs, payload, length)) return false;
  HandlerTable& handlers = from.ep->handlers();
  if ((handlers.flags(word_handler(word)) & need) == need) return true;
  misdirected(from, handlers.entry(word_handler(word)), word, kind);
}

__attribute__((always_inline)) inline void run_client(Peer& from, uint64_t word, uint32_t kind,
                                                      const int32_t* args, unsigned nargs,
                                                      void* payload, size_t length) {
  Endpoint& ep = *from.ep;
  const gex_AM_Entry_t& entry = ep.handlers().entry(word_handler(word));
  const bool is_reply = (word & kWordReply) != 0;
  const gex_Flags_t need =
      kCategoryFlag[kind] | (is_reply ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST);
  const gex_Flags_t flags = ep.handlers().flags(word_handler(word));
  if (__builtin_expect((flags & need) != need, 0)) {
    if (flags != 0) misdirected(from, entry, word, kind);
    if (!found_late(from, word, kind, need, args, nargs, payload, length)) return;
  }
  if (__builtin_expect(entry.gex_nargs != nargs, 0) && entry.gex_nargs != kAnyArgs)
    miscounted(from, entry, word, kind, nargs);

  ThreadState& thread = thread_state();
  const Context before = thread.context;
  const Context inside = is_reply ? Context::reply_handler : Context::request_handler;
  thread.enter(inside);
  if (kThreadSanitizer && thread.internal) annotate_handler();
  cwy_token token{&ep, &from, &entry, !is_reply, kind == CWYC_AM_LONG, false};
  if (kind == CWYC_AM_SHORT)
    call_short(entry.gex_fnptr, &token, args, nargs);
  else
    call_payload(entry.gex_fnptr, &token, payload, length, args, nargs);
  if (__builtin_expect(thread.context != inside, 0))
    left_prepared(am_thread(thread).negotiated.kind, "handler returned");
  thread.enter(before);
}

// An error of a plugin ends the process in one line, before memory of others is read.
[[noreturn]] __attribute__((cold)) void impossible(const ConduitEp& cep, cwy_peer from,
                                                   uint32_t nargs) {
  fatal("communication",
        "conduit {} delivers a message of rank {}, epoch {}, with {} arguments, but the job has {} "
        "ranks, epochs begin at 1, and a message has up to {} arguments: `causeway check-plugin` "
        "tries a plugin",
        cep.conduit->name(), from.rank, from.epoch, nargs, context().size(), CWYC_AM_MAX_ARGS);
}

// A message of another process of the rank than the present one.
__attribute__((cold, noinline)) void drop(const ConduitEp& cep, cwy_peer from, uint32_t nargs) {
  if (from.epoch == 0) impossible(cep, from, nargs);
}

// Runs the handler of one of the core's own messages.
void run_own(Peer& from, uint64_t word, const int32_t* args, unsigned nargs, void* payload,
             size_t length) {
  ThreadState& thread = thread_state();
  const Context before = thread.context;
  thread.enter((word & kWordReply) ? Context::reply_handler : Context::request_handler);
  run_internal(static_cast<Internal>(word_handler(word)), from, args, nargs, payload, length);
  thread.enter(before);
}

// Every message but a client's short one to the primordial endpoint.
__attribute__((noinline)) void deliver_other(Peer& base, uint64_t word, uint32_t kind,
                                             const int32_t* args, uint32_t nargs, void* payload,
                                             size_t length) {
  Peer& peer = word & kWordRouted ? addressed(base, word) : base;
  if (!(word & (kWordInternal | kWordEmulatedLong))) {
    if (kind == CWYC_AM_SHORT) {
      run_client(peer, word, CWYC_AM_SHORT, args, nargs, nullptr, 0);
    } else {
      run_client(peer, word, kind == CWYC_AM_LONG ? CWYC_AM_LONG : CWYC_AM_MEDIUM, args, nargs,
                 payload, length);
    }
    return;
  }
  if (word & kWordEmulatedLong) {
    deliver_emulated_long(peer, word, args, nargs, payload, length);
    return;
  }
  run_own(peer, word, args, nargs, payload, length);
}

}  // namespace

void run_message(Peer& from, uint64_t word, uint32_t kind, const int32_t* args, unsigned nargs,
                 void* payload, size_t length) {
  if (word & kWordInternal) return run_own(from, word, args, nargs, payload, length);
  run_client(from, word, kind, args, nargs, payload, length);
}

void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
             uint32_t nargs, void* payload, size_t length) {
  annotate_receive();
  auto* cep = static_cast<ConduitEp*>(core_ep);
  if (__builtin_expect(from.rank >= context().size() || nargs > CWYC_AM_MAX_ARGS, 0))
    impossible(*cep, from, nargs);
  Peer& peer = cep->owner->peer(from.rank);
  // Relaxed: a message of a new process before this one knows of it is lost, and its sender knows.
  if (__builtin_expect(peer.epoch.load(std::memory_order_relaxed) != from.epoch, 0))
    return drop(*cep, from, nargs);
  constexpr uint64_t kUncommon = kWordInternal | kWordEmulatedLong | kWordRouted;
  if (__builtin_expect(kind == CWYC_AM_SHORT && !(word & kUncommon), 1)) {
    run_client(peer, word, CWYC_AM_SHORT, args, nargs, nullptr, 0);
    return;
  }
  deliver_other(peer, word, kind, args, nargs, payload, length);
}

}  // namespace causeway
