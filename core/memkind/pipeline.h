// Pipeline: a transfer through host buffers of this process only: the other end is in reach, or the
// conduit reaches it.
#pragma once

#include <vector>

#include "memkind/staged_transfer.h"

namespace causeway {

class Pipeline final : public Journey {
 public:
  // `device` has the buffers.
  Pipeline(const Ends& ends, Device& device, cwyc_op* op);

  bool advance(uint32_t& moved) override;
  bool finished() const override { return done_ == ends_.length; }

 protected:
  Hop* piece(size_t i) override { return i < parts_.size() ? &parts_[i] : nullptr; }

 private:
  cwy_status hop(Hop& part, bool is_first);
  bool take_buffer(Hop& part);
  // The part's next step; false when it has to wait.
  bool push(Hop& part, uint32_t& moved);

  uint64_t chunk_;
  size_t next_ = 0, done_ = 0;
  std::vector<Hop> parts_;
};

}  // namespace causeway
