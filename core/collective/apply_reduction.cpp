// The operator of a reduction, applied to what two buffers hold.
#include <algorithm>
#include <cstring>
#include <memory>

#include "collective/team_runs.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

void call_operator(const Reduction& r, const void* left, void* right_and_out, uint64_t count) {
  ThreadState& thread = thread_state();
  const Context before = thread.context;
  thread.enter(Context::reduction);
  r.fn(left, right_and_out, count, r.cdata);
  thread.enter(before);
}

}  // namespace

void apply_reduction(const Run& run, const void* left, const void* right, void* out,
                     uint64_t count) {
  if (count == 0) return;
  const Reduction& r = run.reduction;
  if (run.kernel != nullptr) {
    const uintptr_t bits = reinterpret_cast<uintptr_t>(left) | reinterpret_cast<uintptr_t>(right) |
                           reinterpret_cast<uintptr_t>(out);
    if (__builtin_expect((bits & (r.element_bytes - 1)) == 0, 1)) {
      run.kernel(left, right, out, count);
      return;
    }
    // A buffer that is not aligned for its type: through buffers that are.
    alignas(kLine) char a[1024], b[1024];
    const uint64_t at_once = sizeof a / r.element_bytes;
    for (uint64_t i = 0; i < count; i += at_once) {
      const uint64_t n = std::min(at_once, count - i), at = i * r.element_bytes;
      std::memcpy(a, static_cast<const char*>(left) + at, n * r.element_bytes);
      std::memcpy(b, static_cast<const char*>(right) + at, n * r.element_bytes);
      run.kernel(a, b, b, n);
      std::memcpy(static_cast<char*>(out) + at, b, n * r.element_bytes);
    }
    return;
  }
  if (out != left) {
    if (out != right) std::memcpy(out, right, count * r.element_bytes);
    call_operator(r, left, out, count);
    return;
  }
  if (r.op != GEX_OP_USER_NC) {
    call_operator(r, right, out, count);  // it commutes
    return;
  }
  // The client's function leaves its result where the right operand was, which must survive.
  constexpr size_t kAtOnce = 32 << 10;
  const uint64_t at_once = std::min(std::max<uint64_t>(1, kAtOnce / r.element_bytes), count);
  std::unique_ptr<char[]> buffer(new char[at_once * r.element_bytes]);
  for (uint64_t i = 0; i < count; i += at_once) {
    const uint64_t n = std::min(at_once, count - i), at = i * r.element_bytes;
    std::memcpy(buffer.get(), static_cast<const char*>(right) + at, n * r.element_bytes);
    call_operator(r, static_cast<const char*>(left) + at, buffer.get(), n);
    std::memcpy(static_cast<char*>(out) + at, buffer.get(), n * r.element_bytes);
  }
}

}  // namespace causeway
