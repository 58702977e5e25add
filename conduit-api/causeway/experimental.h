/* causeway/experimental.h - shapes that are no part of version 2: OUTSIDE OF THE FREEZE.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is here may change or go in any minor, names included, and no test compares its layout.
 * The core calls none of it: it is here to be tried, by a conduit and a collective plugin of one
 * author, before it is frozen. The example conduit `simnic` has "counters" and "immediate"; no
 * conduit implements the rest. A conduit that offers some of it exports CWYX_LOOKUP_NAME beside its
 * init function; cwyc_module has no hole for it. (causeway/operations.h is experimental in another
 * sense: the core uses it, it adds nothing to what a conduit offers.)
 *
 * Threads: unless something else is said, calls here are as hot operations are. On an endpoint of
 * concurrency SERIAL they do not run beside other calls, nor come from an upcall.
 */
#ifndef CAUSEWAY_EXPERIMENTAL_H
#define CAUSEWAY_EXPERIMENTAL_H

#include <causeway/conduit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one whenever anything here changes; a lookup for another revision answers NULL. */
#define CWYX_REVISION 4

/* The second symbol: the table called `name` ("counters", "native", "immediate", "device_messages")
 * of this revision, or NULL. Valid from init to fini. A caller finds it with dlsym in the plugin's
 * file. */
typedef const void* (*cwyx_lookup_fn)(const char* name, uint32_t revision);
#define CWYX_LOOKUP cwyx_conduit_lookup
#define CWYX_LOOKUP_NAME "cwyx_conduit_lookup"

/* "counters": numbers in memory that peers can reach, raised by what arrives there. */
typedef struct cwyx_counter cwyx_counter;
typedef struct cwyx_counters {
  cwy_head head;
  /* Counts in the naturally aligned 8 bytes at `address`, host memory of `mem`, which outlives the
   * counter; their value stays. Peers raise it with put_add and a key of `mem`; this process and
   * its devices may write it as well. */
  cwy_status (*open)(cwyc_ep* ep, cwyc_mem* mem, uint64_t address, cwyx_counter** out,
                     cwy_err* err);
  /* A counter is closed before the endpoint, before the connections of the puts that wait for it,
   * and before its memory. Those puts are given up: their ops report CWY_ERR_INVALID from here. */
  void (*close)(cwyx_counter* counter);
  /* From any thread. Acquire: the data that was counted is visible. */
  uint64_t (*read)(const cwyx_counter* counter);
  /* A put whose arrival adds `add` to the naturally aligned 8 bytes at `signal`, data first;
   * `signal` lies in the memory of `signal_rkey`. Nothing is written, nor added, where one of both
   * may not be reached. Otherwise as cwyc_ops.put without flags. */
  cwy_status (*put_add)(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint64_t signal, cwyc_rkey* signal_rkey,
                        uint64_t add, cwyc_op* op);
  /* A put that starts by itself once `when` has reached `threshold`: also a put that a device's
   * stream starts, by writing the counter. Its source is the conduit's until `op` reports LOCAL.
   * Any number of puts may wait, in no order: a peer without room delays those to others as far as
   * README section 8 lets it delay posts. Puts whose peer fails or leaves report
   * CWY_ERR_PEER_FAILED from progress, or from purge. `when` is of the connection's endpoint.
   * Otherwise as cwyc_ops.put without flags. */
  cwy_status (*put_when)(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                         cwyc_rkey* rkey, size_t length, cwyx_counter* when, uint64_t threshold,
                         cwyc_op* op);
} cwyx_counters;

/* "native": the network library's own object behind an endpoint, for a collective plugin that knows
 * the library. It stays the conduit's and is valid until ep_close. */
typedef struct cwyx_native {
  cwy_head head;
  /* `*what` names the type, such as "struct fid_ep*": a text that lives as long as the plugin. */
  cwy_status (*endpoint)(cwyc_ep* ep, const char** what, void** handle, cwy_err* err);
} cwyx_native;

/* "immediate": 32 bits that travel with a put, and a completion at the receiver that tells them and
 * the put's length. Not in version 2, since nothing in the core would ask for them: GASPI's
 * notifications share a message with small data, and follow larger data by order. Measured over
 * libfabric's tcp, the bits save nothing from 64 KiB on. */
typedef void (*cwyx_immediate_fn)(void* arg, cwy_peer from, uint32_t data, size_t length);
typedef struct cwyx_immediate {
  cwy_head head;
  /* progress() calls `fn` with `arg` for each such put, exactly once, when the put's bytes are
   * visible; in no order. `fn` may do what `deliver` may, and is not changed from there. An
   * endpoint has one listener: INVALID to a second one. NULL takes it away. */
  cwy_status (*listen)(cwyc_ep* ep, cwyx_immediate_fn fn, void* arg, cwy_err* err);
  /* As cwyc_ops.put without flags. Where the peer does not listen nothing is written, and `op`
   * reports CWY_ERR_UNSUPPORTED, which here, unlike elsewhere, ends when the peer listens. */
  cwy_status (*put)(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                    cwyc_rkey* rkey, size_t length, uint32_t data, cwyc_op* op);
} cwyx_immediate;

/* "device_messages": mediums whose payload never enters host memory. Open: which of a client's
 * messages may be delivered so, as clients' handlers read their payload. */
typedef struct cwyx_device_messages {
  cwy_head head;
  /* As cwyc_ops.am_medium, from device memory in `lmem`. */
  cwy_status (*am_medium)(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                          const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                          cwyc_op* op);
  /* Lends device memory of `mem` for such payloads to land in, until deliver() has got them. */
  cwy_status (*lend)(cwyc_ep* ep, cwyc_mem* mem, void* buffer, size_t length, cwy_err* err);
} cwyx_device_messages;

#ifdef __cplusplus
}
#endif
#endif
