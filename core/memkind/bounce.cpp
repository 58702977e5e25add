#include "memkind/bounce.h"

#include <atomic>

#include "diag/log.h"
#include "memkind/device.h"
#include "object/runtime.h"
#include "object/segment.h"

namespace causeway {

namespace {

std::atomic<uint32_t> g_number{0};  // relaxed: only has to count

}  // namespace

BouncePool::BouncePool(Device& device, For whom) : device_(device), whom_(whom) {}

void BouncePool::make() {
  const KindPolicy& policy = device_.policy();
  Client* const client = runtime().clients.front();
  const size_t bytes = policy.chunk * policy.depth;
  memory_.reset(whom_ == For::peers ? Segment::scratch_for_peers(client, bytes)
                                    : Segment::scratch(client, bytes));
  number_ = g_number.fetch_add(1, std::memory_order_relaxed) + 1;
  auto* const base = static_cast<char*>(memory_->addr());
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status = device_.module().pin_host(device_.kind(), base, memory_->size(), &err);
  pinned_ = status == CWY_OK;
  if (!pinned_ && status != CWY_ERR_UNSUPPORTED) {
    log_info("{}: staging buffers are not page-locked ({}); copies are slower", device_.name(),
             err.text);
  }
  for (uint32_t i = policy.depth; i-- > 0;) free_.push_back(base + i * policy.chunk);
}

BouncePool::~BouncePool() {
  if (pinned_) device_.module().unpin_host(device_.kind(), memory_->addr());
}

char* BouncePool::take() {
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr) make();
  if (free_.empty()) return nullptr;
  char* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void BouncePool::give(char* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

}  // namespace causeway
