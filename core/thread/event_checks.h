// The account that `checks: full` keeps of explicit events: which are out, who made them, which
// leaves they have. Without it, nothing here is called.
#pragma once

#include <gasnetex.h>

#include "thread/op.h"

namespace causeway {

// `call` has given the client this event, or its leaf; `leaves` (GEX_EC_*) can be asked for.
void note_event(const char* call, gex_Event_t event, gex_EC_t leaves);

// A root has been synchronised: its object is kept back for a while, so that a second
// synchronisation is noticed instead of meeting another operation's event.
void retire_event(EventObject* object);

// Ends the job: the event was synchronised before.
[[noreturn]] void synchronised_twice(const EventObject* object);

// Ends the job unless the root is known to have this leaf, or nothing is known of it.
void check_leaf(const EventObject* root, gex_EC_t category);

// Ends the job unless the mask consists of GEX_EC_* bits, and the call is outside regions.
void check_nbi_sync(const char* call, gex_EC_t mask);

// At a clean exit: one line about events, implicit operations and regions left behind.
void report_leaks();

}  // namespace causeway
