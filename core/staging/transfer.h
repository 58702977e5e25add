// Transfers with an end in device memory. Connections between endpoints of which one is bound to
// device memory have a table whose put and get come here; no other connection knows of devices.
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>

namespace causeway {

class Device;
class RemoteDevice;
struct Connection;
struct Peer;

// Are transfers between the pair copies of the kind in this process: the peer is this process, or
// its memory is mapped here? Opens the mapping.
bool is_in_reach(const Peer& peer);

// The table entries: signatures and completion as in conduit-api/README.md. Memory of one device is
// copied by its kind; memory that the conduit knows is the conduit's; everything else goes through
// host buffers, or ends the job where `memkinds.<name>.staging` forbids that.
cwy_status device_put(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                      cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op);
cwy_status device_get(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
                      size_t length, uint32_t flags, cwyc_op* op);
// Between a segment here and one of a peer's that are bound to no endpoint, one of them in device
// memory; the ranges lie in them.
struct SegmentTransfer {
  const char* call;
  cwyc_conn* conn;
  bool put;
  void* local;
  cwyc_mem* lmem;  // the local segment's registration in the connection's conduit, or NULL
  uint64_t raddr;
  size_t length;
  RemoteDevice* remote;  // NULL: the peer's is host memory
  cwyc_rkey* right;      // of the connection to the peer's segment, or NULL
  bool direct;           // host memory that is mapped here, `delta` from the owner's address
  intptr_t delta;
};
cwy_status transfer_segments(const SegmentTransfer& transfer, cwyc_op* op);
// Payloads that lie in device memory are copied to the host first.
cwy_status device_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                         cwyc_op* op);
cwy_status device_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                       const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                       cwyc_rkey* rkey, uint32_t flags, cwyc_op* op);

// Moves pipelines and copies forward; from polls only. Every transfer under way counts in
// emulations_waiting (progress/hints.h), so that polls of programs without any do not ask.
uint32_t push_device_transfers();

}  // namespace causeway
