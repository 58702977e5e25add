// StagedTransfer: a transfer that passes through bounce buffers in host memory, moved forward by
// polls.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "connection/peer.h"
#include "connection/post_flags.h"
#include "kinds/device.h"
#include "thread/first_failure.h"

namespace causeway {

class BouncePool;
class Import;
class RemoteDevice;

// What diagnoses call a transfer: the client may have used any form of the call.
inline const char* rma_call_name(bool put) {
  return put ? "gex_RMA_Put*()" : "gex_RMA_Get*()";
}

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
  std::shared_ptr<Import> import =
      nullptr;                 // it is mapped here, until the transfer has ended at least
  cwyc_rkey* right = nullptr;  // the connection's to the remote end; NULL: it has none
  bool inside = false;         // the remote range lies in what the right is for

  const Connection& connection() const { return Connection::of(conn); }
};

// Put or get between host memory here, or memory the conduit knows, and the peer: by the conduit if
// it reaches that, else over active messages.
cwy_status by_conduit(const Ends& e, char* local, cwyc_mem* lmem, uint64_t raddr, size_t length,
                      cwyc_op* op);

// Chunk: a range of a staged transfer. A chunk passes two stages: out of its source into a buffer,
// and out of the buffer into its destination. The fields belong to the thread that moves staged
// transfers, but for `step`: the report of a stage under way advances `step` once, with release.
struct Chunk {
  PendingCopy copy;  // first: reports find the chunk by its address
  cwyc_op op{};
  size_t at = 0, bytes = 0;
  char* memory = nullptr;  // the host buffer that the bytes pass through; NULL: no range
  bool bounced = false;    // `memory` is a buffer of the transfer's pool
  bool wired = false;      // the conduit performed the last stage
  bool counted = false;    // StagedTransfer::count_read() has seen it
  std::atomic<uint32_t> step{0};
  // CWYC_DONE_* still to be reported; reports of one operation may come from several threads.
  std::atomic<uint32_t> awaits{0};
  FirstFailure* broken = nullptr;  // the transfer's: what a stage failed with

  // How far the chunk has come. A stage under way is odd.
  enum Step : uint32_t { idle, first, first_done, second, second_done };
  // Acquire: what the stage wrote is there.
  bool under_way() const { return (step.load(std::memory_order_acquire) & 1) != 0; }

  // CWY_OK: `step` has advanced by one; CWY_INPROGRESS: `step` will; CWY_RETRY: nothing happened.
  // Copies `bytes`; `device` NULL: both sides are host memory.
  cwy_status move(Device* device, void* dst, const void* src);
  // Posts an operation of the conduit or its emulation: `post` is called with `op`.
  template <typename Post>
  cwy_status send(bool put, FirstFailure& transfer_broken, Post&& post) {
    op.fn = transferred;
    wired = true;
    broken = &transfer_broken;
    awaits.store(put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE,
                 std::memory_order_relaxed);
    return settle(post(&op));
  }
  // The stage under way is over, or has nothing to do.
  void passed();

 private:
  cwy_status settle(cwy_status status);
  bool failed(cwy_status status, const cwy_detail* detail);
  static void copied(PendingCopy& copy);
  static void transferred(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail*);
};

class StagedTransfer {
 public:
  // `pool`: the pool of the chunks' bounce buffers, or NULL.
  StagedTransfer(const Ends& ends, std::shared_ptr<BouncePool> pool, cwyc_op* client)
      : ends_(ends), pool_(std::move(pool)), client_(client) {
    ends_.flags &= ~uint32_t{kImmediate | CWYC_SRC_VOLATILE};
  }
  virtual ~StagedTransfer() = default;
  StagedTransfer(const StagedTransfer&) = delete;
  StagedTransfer& operator=(const StagedTransfer&) = delete;

  // Starts what can be started. True when a chunk is under way or all is done.
  virtual bool advance(uint32_t& moved) = 0;
  virtual bool finished() const = 0;
  // A broken transfer ends although its peer lives: a peer that serves it is told.
  virtual void give_up() {}
  // CWYC_DONE_* that the client does not know yet. After the last one the transfer is deleted.
  uint32_t news();
  cwyc_op* client() const { return client_; }

  // In a process that survives its peers: a stage failed, or the peer is lost, so the transfer ends
  // early. Acquire: what failed has been noted.
  bool broken() const { return broken_.status() != CWY_OK; }
  const FirstFailure& failure() const { return broken_; }
  // The peer's process is lost and its connections are purged.
  void break_off() {
    lost_ = true;
    broken_.note(CWY_ERR_PEER_FAILED, nullptr);
  }
  // A broken transfer gives back the buffers that no stage uses. True when no stage is under way.
  bool withdraw();
  // Does a device copy for this transfer?
  bool copying();
  bool lost() const { return lost_; }
  // CWYC_DONE_* that the client waits for.
  uint32_t owed() const {
    return ends_.put && !told_local_ ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE;
  }
  uint32_t rank() const { return ends_.connection().peer->rank; }
  const BouncePool* pool() const { return pool_.get(); }

 protected:
  // NULL behind the last chunk.
  virtual Chunk* chunk_at(size_t i) = 0;
  // Gives the chunk a range, and the host memory that its bytes pass through. False: it has to
  // wait.
  virtual bool take(Chunk& chunk) = 0;
  // Begins a stage: answers as Chunk::move().
  virtual cwy_status run_stage(Chunk& chunk, bool is_first) = 0;
  // The chunk has passed both stages. False: it is to be tried again.
  virtual bool hand_over(Chunk& chunk) = 0;

  // Moves all chunks as far as they go now.
  void push(uint32_t& moved);
  // Frees the chunk's buffer.
  void give(Chunk& chunk);
  // The chunk's source has been read. Counted here and not by the stage's report, which may be
  // another thread's.
  void count_read(Chunk& chunk);

  Ends ends_;
  const std::shared_ptr<BouncePool> pool_;  // outlives the local end (staging/bounce.h)
  // Written by the thread that moves staged transfers, and by reports of stages.
  FirstFailure broken_;

 private:
  bool push(Chunk& chunk, uint32_t& moved);
  bool begin_stage(Chunk& chunk, bool is_first);

  cwyc_op* client_;
  uint64_t read_ = 0;  // bytes of the source
  bool told_local_ = false, lost_ = false;
};

// Hands a transfer to the polls, behind the transfers that wait for the same buffers on behalf of
// the same peer. Returns CWY_INPROGRESS.
cwy_status start_staged_transfer(std::unique_ptr<StagedTransfer> transfer);
// Moves every staged transfer forward; from polls only.
uint32_t push_staged_transfers();
// In a process that survives its peers: the rank's process is lost, and its connections have been
// purged. Ends the transfers that were under way with the rank, on either side, and frees their
// buffers. Waits for devices only. Not from handlers.
void forget_staged_transfers(uint32_t rank);

}  // namespace causeway
