// Journeys: transfers that pass through host buffers, moved forward by polls.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "memkind/device.h"
#include "object/peer.h"

namespace causeway {

class RemoteDevice;

// Both ends of a transfer, as far as this process knows them.
struct Ends {
  cwyc_conn* conn;
  bool put;
  char* local;
  Device* local_device;  // NULL: host memory
  uint64_t raddr;
  size_t length;
  uint32_t flags;
  char* there = nullptr;           // the remote end in this process' reach
  Device* there_device = nullptr;  //   and whose it is
  RemoteDevice* remote = nullptr;  // the remote end is device memory of another process
  cwyc_rkey* right = nullptr;      // the connection's to the remote end; NULL: it has none
  bool inside = false;             // the remote range lies in what the right is for

  const Connection& connection() const { return Connection::of(conn); }
};

// Put or get between host memory here, or memory the conduit knows, and the peer: by the conduit if
// it reaches that, else over active messages.
cwy_status by_conduit(const Ends& e, char* local, cwyc_mem* lmem, uint64_t raddr, size_t length,
                      cwyc_op* op);

// A piece on its way. Its fields belong to the thread that moves journeys, but for `step`, which
// the report of a hop under way advances, once, with release.
struct Hop {
  PendingCopy copy;  // first: reports find the piece by its address
  cwyc_op op{};
  size_t at = 0, bytes = 0;
  bool counted = false;  // Journey::count_read() has seen it
  std::atomic<uint32_t> step{0};
  // CWYC_DONE_* still to be reported; reports of one operation may come from several threads.
  std::atomic<uint32_t> awaits{0};

  // CWY_OK: `step` has advanced by one; CWY_INPROGRESS: it will; CWY_RETRY: nothing happened.
  // Copies `bytes`; `device` NULL: both sides are host memory.
  cwy_status move(Device* device, void* dst, const void* src);
  // Posts an operation of the conduit or its emulation: `post` is called with `op`.
  template <typename Post>
  cwy_status send(bool put, Post&& post) {
    op.fn = transferred;
    awaits.store(put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE,
                 std::memory_order_relaxed);
    return settle(post(&op));
  }

 private:
  cwy_status settle(cwy_status status);
  void passed();
  static void copied(PendingCopy& copy, cwy_status status);
  static void transferred(cwyc_op* op, uint32_t what, cwy_status status);
};

class Journey {
 public:
  Journey(const Ends& ends, cwyc_op* client) : ends_(ends), client_(client) {}
  virtual ~Journey() = default;
  Journey(const Journey&) = delete;
  Journey& operator=(const Journey&) = delete;

  // Starts what can be started. True when something is on its way or all is done.
  virtual bool advance(uint32_t& moved) = 0;
  virtual bool finished() const = 0;
  // CWYC_DONE_* that the client does not know yet. After the last one the object is deleted.
  uint32_t news();
  cwyc_op* client() const { return client_; }

 protected:
  // The piece's source has been read. Counted here and not by the report, which may be another
  // thread's.
  void count_read(Hop& hop);

  Ends ends_;

 private:
  cwyc_op* client_;
  uint64_t read_ = 0;  // bytes of the source
  bool told_local_ = false;
};

// Hands a journey to the polls, behind those that wait for buffers. Returns CWY_INPROGRESS.
cwy_status launch(std::unique_ptr<Journey> journey);
// Moves every journey forward; from polls only.
uint32_t push_journeys();

}  // namespace causeway
