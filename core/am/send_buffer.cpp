#include "am/send_buffer.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "am/thread_part.h"
#include "base/fatal.h"
#include "base/invariant.h"
#include "thread/op.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

constexpr uint32_t kMostInUse = 1024;  // by requests, all threads together
constexpr uint32_t kMostKept = 64;     // in the shared list

std::atomic<uint32_t> g_in_use{0};  // relaxed: a bound on memory, not an ordering
std::mutex g_send_buffer_mutex;
SendBuffer* g_free = nullptr;
uint32_t g_kept = 0;

SendBuffer* of_op(cwyc_op* op) {
  static_assert(offsetof(SendBuffer, op) == 0);
  return reinterpret_cast<SendBuffer*>(op);
}

void sent(cwyc_op* op, uint32_t, cwy_status status, const cwy_detail* detail) {
  if (status != CWY_OK) return operation_failed(status, detail);
  give_send_buffer(of_op(op));
}

SendBuffer* make(size_t room) {
  const size_t bytes = (sizeof(SendBuffer) + room + 63) & ~size_t{63};
  void* memory = std::aligned_alloc(alignof(SendBuffer), bytes);
  if (memory == nullptr) fatal("gex_AM_Prepare*()", "no memory for a buffer of {} bytes", room);
  auto* buffer = new (memory) SendBuffer;
  buffer->op.fn = sent;
  buffer->room = room;
  return buffer;
}

SendBuffer* take_shared() {
  const std::lock_guard lock(g_send_buffer_mutex);
  SendBuffer* buffer = g_free;
  ensure("the count of kept send buffers is that of the list",
         [&] { return (buffer != nullptr) == (g_kept != 0); });
  if (buffer == nullptr) return nullptr;
  g_free = buffer->next;
  --g_kept;
  return buffer;
}

// Buffers of an unusual size, and more than will be wanted again, are not kept.
void give_shared(SendBuffer* buffer) {
  if (buffer->room == kSendBufferBytes) {
    const std::lock_guard lock(g_send_buffer_mutex);
    if (g_kept < kMostKept) {
      buffer->next = g_free;
      g_free = buffer;
      ++g_kept;
      return;
    }
  }
  std::free(buffer);
}

}  // namespace

SendBufferCache::~SendBufferCache() {
  if (spare != nullptr) give_shared(spare);
}

SendBuffer* take_send_buffer(size_t size, bool reply) {
  if (!reply && g_in_use.load(std::memory_order_relaxed) >= kMostInUse) return nullptr;
  g_in_use.fetch_add(1, std::memory_order_relaxed);
  if (size > kSendBufferBytes) return make(size);
  SendBufferCache& cache = am_thread(thread_state()).send_buffers;
  if (SendBuffer* buffer = cache.spare) {
    cache.spare = nullptr;
    return buffer;
  }
  SendBuffer* buffer = take_shared();
  return buffer != nullptr ? buffer : make(kSendBufferBytes);
}

void give_send_buffer(SendBuffer* buffer) {
  const uint32_t in_use = g_in_use.fetch_sub(1, std::memory_order_relaxed);
  ensure("no more send buffers are given back than were taken", [&] { return in_use != 0; });
  SendBufferCache& cache = am_thread(thread_state()).send_buffers;
  if (cache.spare == nullptr && buffer->room == kSendBufferBytes) {
    cache.spare = buffer;
    return;
  }
  give_shared(buffer);
}

}  // namespace causeway
