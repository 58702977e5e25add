// Delivery: what every conduit's endpoint calls for an arriving active message.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
             uint32_t nargs, void* payload, size_t length);

struct Peer;
// Runs a client handler for a medium message that travelled within one of the core's own.
void run_client_medium(Peer& from, uint64_t word, const int32_t* args, unsigned nargs,
                       void* payload, size_t length);
// Runs the handler, a client's or the core's own, of a long message that is complete in memory.
void run_long(Peer& from, uint64_t word, const int32_t* args, unsigned nargs, void* payload,
              size_t length);

}  // namespace causeway
