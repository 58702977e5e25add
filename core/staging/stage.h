// Staging of a collective's buffers: algorithms see host memory only. A buffer in device memory is
// copied to the host before the run begins, and the result back when it has ended.
#pragma once

#include <causeway/collective.h>

#include <memory>
#include <vector>

#include "kinds/places.h"

namespace causeway {

class CollectiveStage {
 public:
  // Puts host buffers into `args` where the caller's are device memory.
  CollectiveStage(const char* call, cwyl_args& args, uint32_t rank);
  // The run has ended: the result goes where the client wants it. Waits for the device only.
  void finish();

 private:
  const char* call_;
  std::vector<char> src_, dst_;
  void* result_ = nullptr;  // in device memory; NULL: none
};

// NULL when both buffers are host memory, which without device memory costs one load.
std::unique_ptr<CollectiveStage> stage_collective(const char* call, cwyl_args& args, uint32_t rank);
inline std::unique_ptr<CollectiveStage> staged(const char* call, cwyl_args& args, uint32_t rank) {
  if (__builtin_expect(device_ranges.load(std::memory_order_relaxed) == 0, 1)) return nullptr;
  return stage_collective(call, args, rank);
}

}  // namespace causeway
