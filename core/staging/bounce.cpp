#include "staging/bounce.h"

#include <algorithm>
#include <atomic>

#include "base/context.h"
#include "base/error.h"
#include "base/invariant.h"
#include "base/log.h"
#include "kinds/device.h"
#include "loader/one_line.h"
#include "object/segment.h"

namespace causeway {

namespace {

std::atomic<uint32_t> g_number{0};  // relaxed: only has to count

}  // namespace

BouncePool::BouncePool(Device& device, For whom) : device_(&device), whom_(whom) {}

BouncePool::~BouncePool() {
  retire();
}

void BouncePool::make(uint32_t buffers) {
  const size_t chunk = device_->policy().chunk;
  Client* const client = context().clients.front();
  std::unique_ptr<Segment> memory(whom_ == For::peers
                                      ? Segment::scratch_for_peers(client, chunk * buffers)
                                      : Segment::scratch(client, chunk * buffers));
  auto* const base = static_cast<char*>(memory->addr());
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status = device_->module().pin_host(device_->kind(), base, memory->size(), &err);
  const bool pinned = status == CWY_OK;
  if (!pinned && status != CWY_ERR_UNSUPPORTED) {
    log_info("{}: staging buffers are not page-locked ({}); copies are slower", device_->name(),
             text_of(err));
  }
  for (uint32_t i = 0; i < buffers; ++i) buffers_.push_back({base + i * chunk, 0, false});
  const uint32_t number = g_number.fetch_add(1, std::memory_order_relaxed) + 1;
  slabs_.push_back({std::move(memory), number, pinned});
}

// False where there is no memory for one more: then it waits like the peer's others.
bool BouncePool::make_another() {
  try {
    make(1);
    return true;
  } catch (const Error& e) {
    log_info("{}: no staging buffer beside those in use: {}", device_->name(), e.text());
    return false;
  }
}

void BouncePool::retire() {
  const std::lock_guard lock(mutex_);
  if (device_ == nullptr) return;
  for (Slab& slab : slabs_) {
    if (slab.pinned) device_->module().unpin_host(device_->kind(), slab.memory->addr());
    slab.pinned = false;
  }
  device_ = nullptr;
}

char* BouncePool::take(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  if (device_ == nullptr) return nullptr;
  if (slabs_.empty()) make(device_->policy().depth);
  Buffer* free = nullptr;
  bool has_some = false;
  for (Buffer& b : buffers_) {
    if (!b.taken) free = &b;
    has_some |= b.taken && b.rank == rank;
  }
  if (free == nullptr) {
    if (has_some || !make_another()) return nullptr;
    free = &buffers_.back();
  }
  free->rank = rank;
  free->taken = true;
  return free->at;
}

void BouncePool::give(char* buffer) {
  const std::lock_guard lock(mutex_);
  for (Buffer& b : buffers_) {
    if (b.at != buffer) continue;
    ensure("a staging buffer is given back once", [&] { return b.taken; });
    b.taken = false;
  }
}

void BouncePool::replace(char* buffer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(buffers_, [buffer](const Buffer& b) { return b.at == buffer; });
  if (device_ != nullptr) make(1);
}

BouncePool::Slab& BouncePool::slab_of(const char* buffer) {
  return *std::ranges::find_if(slabs_, [buffer](const Slab& slab) {
    return slab.memory->contains(reinterpret_cast<uint64_t>(buffer), 1);
  });
}

cwyc_mem* BouncePool::registration(const char* buffer, const Conduit* conduit) const {
  const std::lock_guard lock(mutex_);
  return slab_of(buffer).memory->registration(conduit);
}

BouncePool::Arena BouncePool::arena(const char* buffer) const {
  const std::lock_guard lock(mutex_);
  const Slab& slab = slab_of(buffer);
  return {slab.number, slab.memory.get()};
}

}  // namespace causeway
