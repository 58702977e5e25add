// Atomics over active messages: the owner's processor performs them.
#pragma once

#include <causeway/conduit.h>

namespace causeway {

struct Peer;

cwy_status emulated_atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                           cwyc_op* op);
void on_atomic_ask(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_atomic_done(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

}  // namespace causeway
