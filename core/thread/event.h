// Event handles: encoding and synchronisation.
#pragma once

#include <gasnet_fwd.h>

#include <string>

#include "thread/op.h"

namespace causeway {

// A handle taken apart. `leaf` is 0 for the root, else 1 + the category's bit number.
struct EventRef {
  EventObject* object;
  unsigned leaf;
};

inline EventRef decode(gex_Event_t event) {
  const auto bits = reinterpret_cast<uintptr_t>(event);
  return {reinterpret_cast<EventObject*>(bits & ~(kEventAlignment - 1)),
          static_cast<unsigned>(bits & (kEventAlignment - 1))};
}
inline gex_Event_t encode(EventObject* object, unsigned leaf) {
  return reinterpret_cast<gex_Event_t>(reinterpret_cast<uintptr_t>(object) | leaf);
}

// Has it happened? Frees nothing. Ends the job for GEX_EVENT_NO_OP.
bool happened(gex_Event_t event);
// The operations under way, for a person: "a put to rank 3", "2 puts and 1 get".
std::string text_of(const Op& op);
std::string text_of(const ImplicitOps& set);
// Recycles a root that has happened; leaves are left alone.
void recycle(gex_Event_t event);

}  // namespace causeway
