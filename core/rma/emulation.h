// Emulation of one-sided operations over active messages: what fills the holes in a conduit's
// table, and what serves memory that a conduit cannot reach. The functions have the signatures
// and obey the completion rules of conduit-api/README.md; their state lives in the operation's
// scratch.
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

cwy_status emulated_put(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op);
cwy_status emulated_get(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t flags, cwyc_op* op);
// The one or the other.
inline cwy_status emulated_transfer(cwyc_conn* conn, bool put, void* local, uint64_t raddr,
                                    size_t length, uint32_t flags, cwyc_op* op) {
  return put ? emulated_put(conn, local, nullptr, raddr, nullptr, length, flags, op)
             : emulated_get(conn, local, nullptr, raddr, nullptr, length, flags, op);
}

// Sends further pieces of operations that met back-pressure; from polls only. Returns how many.
uint32_t push_emulations();

void on_put_data(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_put_done(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_get_ask(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_get_data(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// cwyc_ep_params::place. Payloads that an emulation would store here, those of emulated longs too
// (am/emulated_long.h), go straight to host memory.
void* place_payload(void* core_ep, const cwyc_arrival* arrival);

}  // namespace causeway
