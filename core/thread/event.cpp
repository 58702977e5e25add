#include "thread/event.h"

#include <fmt/core.h>

#include <iterator>

#include "base/context.h"
#include "base/fatal.h"
#include "base/invariant.h"
#include "thread/event_checks.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

bool op_happened(const Op& op, unsigned leaf) {
  // Local completion is a step of its own where the source is read after the call; the leaf of any
  // other category is the whole operation.
  const bool local = leaf == 1 + kCategoryLc && (op.need & CWYC_DONE_LOCAL) != 0;
  return local ? op.reported(CWYC_DONE_LOCAL) : op.complete();
}

bool region_happened(const Region& region, unsigned leaf) {
  return region.ops.done(leaf == 0 ? GEX_EC_ALL : 1u << (leaf - 1));
}

}  // namespace

bool happened(gex_Event_t event) {
  const EventRef ref = decode(event);
  if (__builtin_expect(ref.object == nullptr, 0))
    fatal("gex_Event_*()", "GEX_EVENT_NO_OP cannot be tested or waited for; nothing was started");
  ensure("a leaf of an event is one of its categories", [&] { return ref.leaf <= kCategories; });
  if (__builtin_expect(ref.object->type == EventType::op, 1))
    return op_happened(*reinterpret_cast<Op*>(ref.object), ref.leaf);
  if (__builtin_expect(ref.object->type != EventType::region, 0)) synchronised_twice(ref.object);
  return region_happened(*reinterpret_cast<Region*>(ref.object), ref.leaf);
}

std::string text_of(const Op& op) {
  static constexpr const char* kNames[] = {"a get from", "a put to", "a message to",
                                           "an operation with", "an atomic operation at"};
  if (op.category >= std::size(kNames)) return "an operation";
  return fmt::format("{} rank {}", kNames[op.category], op.rank);
}

std::string text_of(const ImplicitOps& set) {
  static constexpr const char* kNames[kCategories] = {"gets", "puts", "messages' payloads",
                                                      "local completions", "atomic operations"};
  std::string text;
  for (unsigned c = 0; c < kCategories; ++c) {
    const uint64_t open = set.initiated[c] - set.completed[c].load(std::memory_order_relaxed);
    if (open != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", open, kNames[c]);
  }
  return text;
}

void recycle(gex_Event_t event) {
  const EventRef ref = decode(event);
  if (ref.leaf != 0) return;
  if (__builtin_expect(g_checks, 0)) return retire_event(ref.object);
  if (ref.object->type == EventType::op)
    thread_state().ops.give(reinterpret_cast<Op*>(ref.object));
  else
    delete reinterpret_cast<Region*>(ref.object);
}

}  // namespace causeway
