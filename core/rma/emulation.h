// Emulation of one-sided operations over active messages: what fills the holes in a conduit's
// table, and what serves memory that a conduit cannot reach. The functions have the signatures
// and obey the completion rules of conduit-api/README.md; their state lives in the operation's
// scratch.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "progress/hints.h"

namespace causeway {

struct Peer;

// Sets every NULL entry to an emulation, or to a stub that answers CWY_ERR_UNSUPPORTED.
void fill_with_emulation(cwyc_ops& ops);

// A flag of the core's own beside CWYC_*: the remote range may lie outside every segment
// (GEX_FLAG_PEER_SEG_UNKNOWN).
inline constexpr uint32_t kAnywhere = 1u << 31;
// The same: the address was named without a segment (GEX_FLAG_PEER_SEG_SOME or _UNKNOWN), so it may
// mean memory that lies now where a segment was that was published once (object/local.h).
inline constexpr uint32_t kUnbound = 1u << 30;

cwy_status emulated_put(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op);
cwy_status emulated_get(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t flags, cwyc_op* op);

// Operations with pieces left to send. Relaxed: a hint whether there is anything to push on.
inline PollHint emulations_waiting;
uint32_t push_emulations();

// Sends further pieces of operations that met back-pressure. Returns how many went out.
inline uint32_t progress_emulation() {
  if (__builtin_expect(emulations_waiting.load(std::memory_order_relaxed) == 0, 1)) return 0;
  return push_emulations();
}

// Ends the job with one line unless [addr, addr+length) lies in the segment bound to the addressed
// endpoint or in others of this process: a peer's wrong address must not become this rank's crash.
void require_in_segment(const Peer& from, uint64_t addr, uint64_t length, const char* what);

// Writes what a peer sent to where it said. Ends the job with one line where that is not in a
// segment (`anywhere` false), or cannot be written at all.
void store_for_peer(const Peer& from, uint64_t addr, const void* payload, size_t length,
                    bool anywhere, const char* what);

// The same for what a peer wants to read.
void load_for_peer(const Peer& from, uint64_t addr, void* to, size_t length, bool anywhere,
                   const char* what);

void on_put_data(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_put_done(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_get_ask(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);
void on_get_data(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

}  // namespace causeway
