// gex_Event_* and gex_NBI_*: "Event test/wait operations" and after.
#include "thread/event.h"

#include <gasnetex.h>

#include <bit>

#include "am/send.h"
#include "api/export.h"
#include "base/call_arguments.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "collective/engine.h"
#include "process/runtime.h"
#include "progress/waiter.h"
#include "thread/event_checks.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

struct Sweep {
  size_t completed = 0;
  size_t pending = 0;
};

// Looking for a root's leaves in its array costs a scan per root, so it is done only when the
// array holds any leaf.
bool some_leaf(const gex_Event_t* events, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (events[i] != GEX_EVENT_INVALID && decode(events[i]).leaf != 0) return true;
  return false;
}

// A root that has happened takes its leaves with it; those before it were counted pending.
void invalidate_leaves(gex_Event_t* events, size_t count, size_t root_at, const EventObject* root,
                       Sweep& result) {
  for (size_t i = 0; i < count; ++i) {
    if (events[i] == GEX_EVENT_INVALID || decode(events[i]).object != root) continue;
    if (i < root_at) --result.pending;
    events[i] = GEX_EVENT_INVALID;
  }
}

// Overwrites what has happened with GEX_EVENT_INVALID. A root and its leaves may stand in one
// array in any order, so a root is recycled only after its leaves have been overwritten.
Sweep sweep(gex_Event_t* events, size_t count) {
  const bool leaves = some_leaf(events, count);
  Sweep result;
  for (size_t i = 0; i < count; ++i) {
    const gex_Event_t event = events[i];
    if (event == GEX_EVENT_INVALID) continue;
    if (!happened(event)) {
      ++result.pending;
      continue;
    }
    events[i] = GEX_EVENT_INVALID;
    ++result.completed;
    const EventRef ref = decode(event);
    if (ref.leaf != 0) continue;
    if (leaves) invalidate_leaves(events, count, i, ref.object, result);
    recycle(event);
  }
  return result;
}

// "Calls from restricted context" forbids tests and queries too. Where nothing is waited for they
// would work, so only `checks: full` looks.
inline void check_context(const char* call) {
  if (__builtin_expect(g_checks, 0)) require_client_context(call, thread_state());
}

// The array of a call on several events.
inline void check_array(const char* call, const gex_Event_t* events, size_t count) {
  if (__builtin_expect(!g_checks, 1)) return;
  require_client_context(call, thread_state());
  if (events == nullptr && count != 0) fatal(call, "pevent is NULL, numevents is {}", count);
}

// The team whose collective a pending event stands for; NULL for everything else.
TeamRuns* team_of(gex_Event_t event) {
  EventObject* const object = decode(event).object;
  if (object->type != EventType::op) return nullptr;
  return reinterpret_cast<Op*>(object)->collective.load(std::memory_order_relaxed);
}

// For WaitSubject: the thread that waits owns what is looked at.
std::string text_of_set(const void* arg) {
  return text_of(*static_cast<const ImplicitOps*>(arg));
}

std::string text_of_event(const void* arg) {
  const EventObject* const object = decode(static_cast<gex_Event_t>(const_cast<void*>(arg))).object;
  if (object->type == EventType::region)
    return text_of(reinterpret_cast<const Region*>(object)->ops);
  const Op& op = *reinterpret_cast<const Op*>(object);
  TeamRuns* const team = op.collective.load(std::memory_order_relaxed);
  return team != nullptr ? text_of(*team) : text_of(op);
}

// The events of a call on several.
struct Waited {
  const gex_Event_t* events;
  size_t count;
};
std::string text_of_events(const void* arg) {
  const Waited& waited = *static_cast<const Waited*>(arg);
  std::string text;
  size_t pending = 0;
  for (size_t i = 0; i < waited.count; ++i) {
    const gex_Event_t event = waited.events[i];
    if (event == GEX_EVENT_INVALID || happened(event)) continue;
    if (++pending == 1) text = text_of_event(event);
  }
  return pending < 2 ? text : fmt::format("{} events, the first of them {}", pending, text);
}

void wait_for(const char* call, int (*test)(gex_Event_t*, size_t, gex_Flags_t), gex_Event_t* events,
              size_t count, gex_Flags_t flags) {
  note_call(call, "pevent, numevents, flags", events, count, flags);
  require_no_flags(call, flags);
  require_client_context(call, thread_state());
  const Waited waited{events, count};
  WaiterFor waiter({call, text_of_events, &waited});
  while (test(events, count, 0) != GASNET_OK) waiter.step();
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API int cwy_event_test_v1(gex_Event_t event) {
  note_call("gex_Event_Test()", "event", event);
  check_context("gex_Event_Test()");
  if (!happened(event)) return GASNET_ERR_NOT_READY;
  recycle(event);
  return GASNET_OK;
}

CAUSEWAY_API void cwy_event_wait_v1(gex_Event_t event) {
  note_call("gex_Event_Wait()", "event", event);
  require_client_context("gex_Event_Wait()", thread_state());
  WaiterFor waiter({"gex_Event_Wait()", text_of_event, event});
  while (!happened(event)) {
    TeamRuns* const team = team_of(event);
    if (team != nullptr)
      step_for(waiter, *team);
    else
      waiter.step();
  }
  recycle(event);
}

CAUSEWAY_API int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  note_call("gex_Event_TestSome()", "pevent, numevents, flags", pevent, numevents, flags);
  require_no_flags("gex_Event_TestSome()", flags);
  check_array("gex_Event_TestSome()", pevent, numevents);
  const Sweep s = sweep(pevent, numevents);
  return s.completed != 0 || s.pending == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}

CAUSEWAY_API void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  wait_for("gex_Event_WaitSome()", gex_Event_TestSome, pevent, numevents, flags);
}

CAUSEWAY_API int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  note_call("gex_Event_TestAll()", "pevent, numevents, flags", pevent, numevents, flags);
  require_no_flags("gex_Event_TestAll()", flags);
  check_array("gex_Event_TestAll()", pevent, numevents);
  return sweep(pevent, numevents).pending == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}

CAUSEWAY_API void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  wait_for("gex_Event_WaitAll()", gex_Event_TestAll, pevent, numevents, flags);
}

CAUSEWAY_API gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
  if (root == GEX_EVENT_INVALID) return GEX_EVENT_INVALID;
  note_call("gex_Event_QueryLeaf()", "root, event_category_mask", root, event_category);
  if (!std::has_single_bit(event_category) || (event_category & ~GEX_EC_ALL) != 0) {
    fatal("gex_Event_QueryLeaf()", "event_category {:#x} is not one GEX_EC_* constant",
          event_category);
  }
  const EventRef ref = decode(root);
  if (ref.object == nullptr || ref.leaf != 0)
    fatal("gex_Event_QueryLeaf()", "the first argument is not a root event");
  if (__builtin_expect(g_checks, 0)) {
    require_client_context("gex_Event_QueryLeaf()", thread_state());
    if (ref.object->type != EventType::op && ref.object->type != EventType::region)
      synchronised_twice(ref.object);
    check_leaf(ref.object, event_category);
  }
  return encode(ref.object, 1 + static_cast<unsigned>(std::countr_zero(event_category)));
}

CAUSEWAY_API int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags) {
  note_call("gex_NBI_Test()", "event_mask, flags", event_mask, flags);
  require_no_flags("gex_NBI_Test()", flags);
  if (__builtin_expect(g_checks, 0)) {
    require_client_context("gex_NBI_Test()", thread_state());
    check_nbi_sync("gex_NBI_Test()", event_mask);
  }
  return thread_state().nbi->done(event_mask) ? GASNET_OK : GASNET_ERR_NOT_READY;
}

CAUSEWAY_API void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags) {
  note_call("gex_NBI_Wait()", "event_mask, flags", event_mask, flags);
  require_no_flags("gex_NBI_Wait()", flags);
  ThreadState& thread = thread_state();
  require_client_context("gex_NBI_Wait()", thread);
  if (thread.nbi != &thread.implicit) {
    fatal("gex_NBI_Wait()",
          "called inside an access region; end the region and wait for its event");
  }
  if (__builtin_expect(g_checks, 0)) check_nbi_sync("gex_NBI_Wait()", event_mask);
  WaiterFor waiter({"gex_NBI_Wait()", text_of_set, &thread.implicit});
  while (!thread.implicit.done(event_mask)) waiter.step();
}

CAUSEWAY_API void gex_NBI_BeginAccessRegion(gex_Flags_t flags) {
  note_call("gex_NBI_BeginAccessRegion()", "flags", flags);
  require_no_flags("gex_NBI_BeginAccessRegion()", flags);
  check_context("gex_NBI_BeginAccessRegion()");
  ThreadState& thread = thread_state();
  if (thread.nbi != &thread.implicit)
    fatal("gex_NBI_BeginAccessRegion()", "an access region is open already; regions do not nest");
  thread.nbi = &(new Region)->ops;
}

CAUSEWAY_API gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
  note_call("gex_NBI_EndAccessRegion()", "flags", flags);
  require_no_flags("gex_NBI_EndAccessRegion()", flags);
  check_context("gex_NBI_EndAccessRegion()");
  ThreadState& thread = thread_state();
  if (thread.nbi == &thread.implicit)
    fatal("gex_NBI_EndAccessRegion()", "no access region is open");
  auto* region =
      reinterpret_cast<Region*>(reinterpret_cast<char*>(thread.nbi) - offsetof(Region, ops));
  thread.nbi = &thread.implicit;
  if (region->ops.done(GEX_EC_ALL)) {
    delete region;
    return GEX_EVENT_INVALID;
  }
  const gex_Event_t event = encode(&region->head, 0);
  if (__builtin_expect(g_checks, 0)) note_event("gex_NBI_EndAccessRegion()", event, GEX_EC_ALL);
  return event;
}
