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

void BouncePool::make(uint32_t buffers) {
  const size_t chunk = device_.policy().chunk;
  Client* const client = runtime().clients.front();
  std::unique_ptr<Segment> memory(whom_ == For::peers
                                      ? Segment::scratch_for_peers(client, chunk * buffers)
                                      : Segment::scratch(client, chunk * buffers));
  auto* const base = static_cast<char*>(memory->addr());
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status = device_.module().pin_host(device_.kind(), base, memory->size(), &err);
  const bool pinned = status == CWY_OK;
  if (!pinned && status != CWY_ERR_UNSUPPORTED) {
    log_info("{}: staging buffers are not page-locked ({}); copies are slower", device_.name(),
             err.text);
  }
  for (uint32_t i = buffers; i-- > 0;) free_.push_back(base + i * chunk);
  slabs_.push_back({std::move(memory), pinned});
}

BouncePool::~BouncePool() {
  for (const Slab& slab : slabs_) {
    if (slab.pinned) device_.module().unpin_host(device_.kind(), slab.memory->addr());
  }
}

char* BouncePool::take() {
  const std::lock_guard lock(mutex_);
  if (slabs_.empty()) {
    make(device_.policy().depth);
    number_ = g_number.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  if (free_.empty()) return nullptr;
  char* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void BouncePool::give(char* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

void BouncePool::replace() {
  const std::lock_guard lock(mutex_);
  make(1);
}

cwyc_mem* BouncePool::registration(const char* buffer, const Conduit* conduit) const {
  const std::lock_guard lock(mutex_);
  for (const Slab& slab : slabs_) {
    if (slab.memory->contains(reinterpret_cast<uint64_t>(buffer), 1)) {
      return slab.memory->registration(conduit);
    }
  }
  return nullptr;
}

}  // namespace causeway
