// A long active message over mediums, for conduits (or memory) without native longs. The payload
// goes ahead in pieces that the receiver stores; the message follows with their number, and runs
// its handler when all of them have arrived, in whatever order the conduit delivered them. Pieces
// and message use the lane of the message, and none is answered, so a reply needs no request. Where
// room runs out after the first piece, the rest is sent by later progress and `op` is told.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

struct Peer;

cwy_status emulated_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                         cwyc_rkey* rkey, uint32_t flags, cwyc_op* op);

// Sends further pieces of longs that met back-pressure. Returns how many went out.
uint32_t push_emulated_longs();

void on_long_piece(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void deliver_emulated_long(Peer& from, uint64_t word, const int32_t* args, unsigned nargs,
                           void* payload, size_t length);

}  // namespace causeway
