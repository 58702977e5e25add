// RequestedTransfer: the asking side of staging/staging_service.h. The peer's memory is copied by
// its owner. An owner that reaches the host memory here grants no buffers, and reports the copied
// bytes of a get too.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "staging/staged_transfer.h"
#include "staging/staging_service.h"

namespace causeway {

class FarArena;

class RequestedTransfer final : public StagedTransfer, public StagingClient {
 public:
  RequestedTransfer(const Ends& ends, cwyc_op* op);
  ~RequestedTransfer() override;

  bool advance(uint32_t& moved) override;
  bool finished() const override;
  void give_up() override;

  void granted(Grant grant) override;
  void copied(uint64_t bytes) override {
    // Release: what the owner did comes before what the client hears.
    copied_.fetch_add(bytes, std::memory_order_release);
  }

 protected:
  Chunk* chunk_at(size_t i) override { return i < chunks_.size() ? &chunks_[i] : nullptr; }
  bool take(Chunk& chunk) override;
  cwy_status run_stage(Chunk& chunk, bool is_first) override;
  bool hand_over(Chunk& chunk) override;

 private:
  // A chunk passes at most two stages on this side: a copy between the client's memory and a host
  // buffer, and a transfer of the conduit's between that buffer and the owner's bounce buffer. A
  // bounce buffer that is mapped here is the host buffer; so is the client's memory where it is
  // host memory.
  struct GrantedChunk : Chunk {
    Grant grant;
    FarArena* arena = nullptr;  // the arena of the owner's bounce buffer
    bool mapped = false;        // `memory` is the owner's bounce buffer
  };
  bool ask();
  FarArena* open_arena(const Grant& grant, const Peer& peer);
  bool copies(const GrantedChunk& chunk) const {
    return chunk.mapped || ends_.local_device != nullptr;
  }
  cwy_status wire(GrantedChunk& chunk);

  const uint32_t number_;
  bool asked_ = false;
  std::mutex mutex_;  // of granted_, which handlers fill
  std::deque<Grant> granted_;
  uint32_t owner_number_ = 0;  // the owner's number of this transfer; 0: nothing was granted yet
  std::atomic<uint64_t> copied_{0};
  FarArena* arena_ = nullptr;  // of the last grant
  uint64_t given_back_ = 0;
  std::vector<GrantedChunk> chunks_;
};

}  // namespace causeway
