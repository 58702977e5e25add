#include "thread/event_checks.h"

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/fatal.h"
#include "base/log.h"
#include "thread/event.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

struct Record {
  const char* call;
  gex_EC_t leaves;
};

// Retired objects kept back. More than programs keep events around by mistake, and little memory.
constexpr size_t kKeptBack = 4096;

std::mutex g_event_checks_mutex;
std::unordered_map<const EventObject*, Record> g_live;
std::unordered_map<const EventObject*, const char*> g_origin;  // of what is kept back
std::deque<EventObject*> g_kept_back;

void free_object(EventObject* object, EventType type) {
  object->type = type;
  if (type == EventType::op)
    thread_state().ops.give(reinterpret_cast<Op*>(object));
  else
    delete reinterpret_cast<Region*>(object);
}

}  // namespace

void note_event(const char* call, gex_Event_t event, gex_EC_t leaves) {
  const EventRef ref = decode(event);
  if (event == GEX_EVENT_INVALID || ref.object == nullptr) return;
  const std::lock_guard lock(g_event_checks_mutex);
  g_live[ref.object] = {call, leaves};
}

void retire_event(EventObject* object) {
  EventObject* freed = nullptr;
  EventType freed_type = EventType::op;
  {
    const std::lock_guard lock(g_event_checks_mutex);
    const auto live = g_live.find(object);
    g_origin[object] = live != g_live.end() ? live->second.call : "an earlier call";
    if (live != g_live.end()) g_live.erase(live);
    object->type =
        object->type == EventType::op ? EventType::retired_op : EventType::retired_region;
    g_kept_back.push_back(object);
    if (g_kept_back.size() > kKeptBack) {
      freed = g_kept_back.front();
      g_kept_back.pop_front();
      g_origin.erase(freed);
      freed_type = freed->type == EventType::retired_op ? EventType::op : EventType::region;
    }
  }
  if (freed != nullptr) free_object(freed, freed_type);
}

void synchronised_twice(const EventObject* object) {
  const char* origin = "an earlier call";
  {
    const std::lock_guard lock(g_event_checks_mutex);
    if (const auto found = g_origin.find(object); found != g_origin.end()) origin = found->second;
  }
  fatal("gex_Event_*()",
        "the event at {}, from {}, was synchronised already; a root takes its leaves with it and "
        "may be tested or waited for until it has happened once",
        static_cast<const void*>(object), origin);
}

void check_leaf(const EventObject* root, gex_EC_t category) {
  const std::lock_guard lock(g_event_checks_mutex);
  const auto found = g_live.find(root);
  if (found == g_live.end() || (found->second.leaves & category)) return;
  fatal("gex_Event_QueryLeaf()",
        "the event from {} has no leaf of category {:#x}: it was suppressed or does not exist",
        found->second.call, category);
}

void check_nbi_sync(const char* call, gex_EC_t mask) {
  if (mask == 0 || (mask & ~GEX_EC_ALL) != 0)
    fatal(call, "event_mask {:#x} is not a combination of GEX_EC_* constants", mask);
  const ThreadState& thread = thread_state();
  if (thread.nbi != &thread.implicit)
    fatal(call, "called inside an access region; end the region and wait for its event");
}

void report_leaks() {
  std::map<std::string, size_t> calls;
  {
    const std::lock_guard lock(g_event_checks_mutex);
    for (const auto& [object, record] : g_live) ++calls[record.call];
  }
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  for (const auto& [call, count] : calls)
    add(fmt::format("{} event(s) of {} never synchronised", count, call));
  const ThreadState& thread = thread_state();
  if (thread.nbi != &thread.implicit) add("an access region is still open");
  if (!thread.implicit.done(GEX_EC_ALL)) add("implicit operations were not waited for");
  if (!text.empty()) log_error("gasnet_exit(): {}", text);
}

}  // namespace causeway
