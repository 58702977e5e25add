// Pipeline: a staged transfer that needs bounce buffers of this process only, because the other end
// is in reach of this process or of the conduit.
#pragma once

#include <vector>

#include "staging/staged_transfer.h"

namespace causeway {

class Pipeline final : public StagedTransfer {
 public:
  // The bounce buffers are those of `device`.
  Pipeline(const Ends& ends, Device& device, cwyc_op* op);

  bool advance(uint32_t& moved) override;
  bool finished() const override { return done_ == ends_.length; }

 protected:
  Chunk* chunk_at(size_t i) override { return i < chunks_.size() ? &chunks_[i] : nullptr; }
  bool take(Chunk& chunk) override;
  cwy_status run_stage(Chunk& chunk, bool is_first) override;
  bool hand_over(Chunk& chunk) override;

 private:
  uint64_t chunk_bytes_;
  size_t next_ = 0, done_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace causeway
