// Delivery: what every conduit's endpoint calls for an arriving active message.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
             uint32_t nargs, void* payload, size_t length);

struct Peer;
// Runs the handler, a client's or the core's own, of a message that did not come to deliver() as
// such: a medium that travelled within one of the core's own, a long that is complete in memory
// now, one that was kept (held.h). `kind`: CWYC_AM_*. A medium's payload is aligned for any type.
void run_message(Peer& from, uint64_t word, uint32_t kind, const int32_t* args, unsigned nargs,
                 void* payload, size_t length);

}  // namespace causeway
