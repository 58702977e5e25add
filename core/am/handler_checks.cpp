#include "am/handler_checks.h"

#include "am/deliver.h"
#include "base/fatal.h"
#include "connection/conduit_set.h"
#include "connection/word.h"
#include "object/endpoint.h"
#include "thread/lock_checks.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// The outermost delivery on this thread: tokens live on the stack between it and their user.
thread_local const char* t_delivery = nullptr;

[[noreturn]] __attribute__((cold)) void kept_locks(void* core_ep, cwy_peer from, uint64_t word) {
  const auto* cep = static_cast<ConduitEp*>(core_ep);
  const gex_AM_Entry_t& entry = cep->owner->handlers().entry(word_handler(word));
  fatal("gex_HSL_Lock()",
        "handler index {} ('{}'), run for rank {}, returned with {} handler-safe lock(s) held; a "
        "handler unlocks what it locks",
        word_handler(word), entry.gex_name != nullptr ? entry.gex_name : "unnamed", from.rank,
        locks_held());
}

// A plugin's mistake: what it hands over cannot be a message.
[[noreturn]] __attribute__((cold)) void no_message(const void* core_ep, cwy_peer from,
                                                   const char* what) {
  fatal("communication",
        "conduit {} delivers a message of rank {} {}: `causeway check-plugin` tries a plugin",
        static_cast<const ConduitEp*>(core_ep)->conduit->name(), from.rank, what);
}

void require_message(const void* core_ep, cwy_peer from, uint32_t kind, const int32_t* args,
                     uint32_t nargs, const void* payload, size_t length) {
  if (kind > CWYC_AM_LONG) no_message(core_ep, from, "of no kind that there is");
  if (nargs != 0 && args == nullptr) no_message(core_ep, from, "without its arguments");
  if (kind != CWYC_AM_SHORT && length != 0 && payload == nullptr)
    no_message(core_ep, from, "without its payload");
}

}  // namespace

void deliver_checked(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                     const int32_t* args, uint32_t nargs, void* payload, size_t length) {
  require_message(core_ep, from, kind, args, nargs, payload, length);
  const unsigned before = locks_held();
  const char* const outer = t_delivery;
  if (outer == nullptr) t_delivery = static_cast<const char*>(__builtin_frame_address(0));
  deliver(core_ep, from, word, kind, args, nargs, payload, length);
  t_delivery = outer;
  if (locks_held() != before) kept_locks(core_ep, from, word);
}

void check_token(const char* call, gex_Token_t token) {
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  const auto* const at = reinterpret_cast<const char*>(token);
  if (t_delivery == nullptr ? thread_state().context != Context::client
                            : at > here && at < t_delivery)
    return;
  fatal(call,
        "the token at {} is not that of a handler running on this thread; a token ends with its "
        "handler",
        static_cast<const void*>(at));
}

void check_handler_index(const char* call, gex_AM_Index_t handler) {
  if (handler >= GEX_AM_INDEX_BASE) return;
  fatal(call, "handler index {} is not in [{}, 255], where clients' handlers are", handler,
        GEX_AM_INDEX_BASE);
}

}  // namespace causeway
