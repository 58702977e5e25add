// gasnet_barrier_*: the rules of GASNet-1 3.5 about names and order of calls.
#include <gasnet.h>

#include "am/send.h"
#include "api/export.h"
#include "api/gasnet1/legacy.h"
#include "api/gasnet1/named_barrier.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/warn_once.h"
#include "progress/poll.h"
#include "progress/waiter.h"

namespace causeway {
namespace {

// State of the barrier: the last notify, and how the last barrier ended. A single thread at a time
// is in a barrier call; that may be another one each time, ordered by the client.
struct Barrier {
  bool notified = false;
  int id = 0, flags = 0;
  BarrierName outcome{BarrierName::none, 0};
} g_barrier;

constexpr int kAllFlags = GASNET_BARRIERFLAG_MISMATCH | GASNET_BARRIERFLAG_UNNAMED;

BarrierName name_of(int id, int flags) {
  if (flags & GASNET_BARRIERFLAG_MISMATCH) return {BarrierName::mismatch, 0};
  if (flags & GASNET_BARRIERFLAG_ANONYMOUS) return {BarrierName::none, 0};
  return {BarrierName::named, id};
}

void notify(const char* call, int id, int flags) {
  note_call(call, "id, flags", id, flags);
  require_client_context(call, thread_state());
  Team& team = gasnet1_team(call);
  if (flags & ~kAllFlags) fatal(call, "unknown flags {:#x}", flags);
  if (g_barrier.notified)
    fatal(call, "the barrier notified before has not been waited for (gasnet_barrier_wait())");
  g_barrier.notified = true;
  g_barrier.id = id;
  g_barrier.flags = flags;
  begin_named_barrier(team, name_of(id, flags));
}

void require_notified(const char* call) {
  require_client_context(call, thread_state());
  gasnet1_team(call);
  if (!g_barrier.notified) fatal(call, "called without gasnet_barrier_notify() before it");
}

// Does the end that is waited for fit what all have notified? 3.5.2 wants the flags of one's own
// notify again. Clients of the field notify anonymously and wait with a name, or the other way:
// that is accepted where the names that were given agree.
bool fits(int id, int flags) {
  if (g_barrier.outcome.kind == BarrierName::mismatch) return false;
  if (flags & GASNET_BARRIERFLAG_MISMATCH) return false;
  const bool anonymous = flags & GASNET_BARRIERFLAG_ANONYMOUS;
  return anonymous || g_barrier.outcome.kind == BarrierName::none || id == g_barrier.outcome.id;
}

int conclude(const char* call, int id, int flags) {
  g_barrier.outcome = finish_named_barrier();
  g_barrier.notified = false;
  if (!fits(id, flags)) return GASNET_ERR_BARRIER_MISMATCH;
  if (g_checks && flags != g_barrier.flags) {
    warn_once("{}: flags {:#x} are not those of gasnet_barrier_notify(), {:#x}; taken to match",
              call, flags, g_barrier.flags);
  }
  return GASNET_OK;
}

int wait(const char* call, int id, int flags) {
  note_call(call, "id, flags", id, flags);
  require_notified(call);
  WaiterFor waiter({call, [](const void*) -> std::string { return "the other ranks"; }});
  while (!named_barrier_done()) waiter.step();
  return conclude(call, id, flags);
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API void gasnet_barrier_notify(int id, int flags) {
  notify("gasnet_barrier_notify()", id, flags);
}

CAUSEWAY_API int gasnet_barrier_wait(int id, int flags) {
  return wait("gasnet_barrier_wait()", id, flags);
}

CAUSEWAY_API int gasnet_barrier_try(int id, int flags) {
  constexpr const char* kCall = "gasnet_barrier_try()";
  note_call(kCall, "id, flags", id, flags);
  require_notified(kCall);
  poll_for_client();
  if (named_barrier_done()) return conclude(kCall, id, flags);
  return GASNET_ERR_NOT_READY;
}

CAUSEWAY_API int gasnet_barrier(int id, int flags) {
  constexpr const char* kCall = "gasnet_barrier()";
  notify(kCall, id, flags);
  return wait(kCall, id, flags);
}

CAUSEWAY_API int gasnet_barrier_result(int* id) {
  constexpr const char* kCall = "gasnet_barrier_result()";
  gasnet1_team(kCall);
  if (g_barrier.notified) fatal(kCall, "called between notify and wait of a barrier");
  const BarrierName& outcome = g_barrier.outcome;
  if (outcome.kind == BarrierName::none) return 1;
  if (id != nullptr) *id = outcome.kind == BarrierName::named ? outcome.id : g_barrier.id;
  return 0;
}
