// The one place that decides between a conduit's own operation and its emulation over messages.
#pragma once

#include <causeway/conduit.h>

#include <atomic>

namespace causeway {

// A single attempt. `fits`: the operation is within the conduit's limits and names memory that the
// conduit may reach. `over_am` remembers that the conduit answered UNSUPPORTED for that memory;
// relaxed: a thread that reads it late tries once more and learns the same. `native` and `emulated`
// post and answer like an entry of cwyc_ops; inline, so that a put pays no call for the question.
template <typename Native, typename Emulated>
[[gnu::always_inline]] inline cwy_status post_native_or_emulated(bool fits,
                                                                 std::atomic<bool>& over_am,
                                                                 Native&& native,
                                                                 Emulated&& emulated) {
  if (fits && !over_am.load(std::memory_order_relaxed)) {
    const cwy_status status = native();
    if (status != CWY_ERR_UNSUPPORTED) return status;
    over_am.store(true, std::memory_order_relaxed);
  }
  return emulated();
}

}  // namespace causeway
