// StagedTransfer: the asking side of memkind/staging_service.h. The peer's memory is copied by its
// owner. An owner that reaches the host memory here grants nothing, and tells what has landed of a
// get too.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "memkind/staged_transfer.h"
#include "memkind/staging_service.h"

namespace causeway {

class FarArena;

class StagedTransfer final : public Journey, public LandingClient {
 public:
  StagedTransfer(const Ends& ends, cwyc_op* op);
  ~StagedTransfer() override;

  bool advance(uint32_t& moved) override;
  bool finished() const override;
  void give_up() override;

  void granted(Grant grant) override;
  void landed(uint64_t bytes) override {
    // Release: what the owner did comes before what the client hears.
    landed_.fetch_add(bytes, std::memory_order_release);
  }

 protected:
  Hop* piece(size_t i) override { return i < parts_.size() ? &parts_[i] : nullptr; }

 private:
  // Two hops at most on this side: between the client's memory and a host buffer (`copying`), and
  // between a host buffer and the berth (`wiring`). A berth that is mapped here is the host buffer;
  // so is the client's memory when it is the host's.
  struct Part : Hop {
    Grant grant;
    FarArena* arena = nullptr;  // which the berth is in
    bool mapped = false;        // `memory` is the berth
  };
  bool ask();
  FarArena* open_arena(const Grant& grant, const Peer& peer);
  bool take(Part& part);
  bool copies(const Part& part) const { return part.mapped || ends_.local_device != nullptr; }
  bool hop(Part& part, bool is_first);
  cwy_status wire(Part& part);
  bool give_back(Part& part, uint32_t& moved);
  bool push(Part& part, uint32_t& moved);

  const uint32_t number_;
  bool asked_ = false;
  std::mutex mutex_;  // of granted_, which handlers fill
  std::deque<Grant> granted_;
  uint32_t visit_ = 0;  // the owner's number of it; 0: nothing was granted yet
  std::atomic<uint64_t> landed_{0};
  FarArena* arena_ = nullptr;  // of the last grant
  uint64_t given_back_ = 0;
  std::vector<Part> parts_;
};

}  // namespace causeway
