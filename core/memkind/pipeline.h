// Pipeline: a transfer through host buffers of this process only: the other end is in reach, or the
// conduit reaches it.
#pragma once

#include <vector>

#include "memkind/journey.h"

namespace causeway {

class Pipeline final : public Journey {
 public:
  // `device` has the buffers.
  Pipeline(const Ends& ends, Device& device, cwyc_op* op);

  bool advance(uint32_t& moved) override;
  bool finished() const override { return done_ == ends_.length; }

 private:
  struct Part : Hop {
    char* buffer = nullptr;
  };
  enum Step : uint32_t { idle, loading, loaded, storing, stored };
  cwy_status hop(Part& part, bool first);
  bool take_buffer(Part& part);
  // The part's next step; false when it has to wait.
  bool push(Part& part, uint32_t& moved);

  Device& device_;
  uint64_t chunk_;
  size_t next_ = 0, done_ = 0;
  std::vector<Part> parts_;
};

}  // namespace causeway
