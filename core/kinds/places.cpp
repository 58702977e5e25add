#include "kinds/places.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/fatal.h"
#include "kinds/device.h"

namespace causeway {
namespace {

struct Range {
  uint64_t end;
  Device* device;
};
std::shared_mutex g_places_mutex;
std::multimap<uint64_t, Range> g_ranges;  // by base; segments may overlap

}  // namespace

void add_device_range(uint64_t base, uint64_t size, Device* device) {
  const std::unique_lock lock(g_places_mutex);
  g_ranges.emplace(base, Range{base + size, device});
  device_ranges.fetch_add(1, std::memory_order_relaxed);
}

void remove_device_range(uint64_t base, uint64_t size) {
  const std::unique_lock lock(g_places_mutex);
  for (auto [at, end] = g_ranges.equal_range(base); at != end; ++at) {
    if (at->second.end != base + size) continue;
    g_ranges.erase(at);
    device_ranges.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
}

Device* find_device_range(const char* call, uint64_t addr, uint64_t length) {
  const std::shared_lock lock(g_places_mutex);
  const Range* partly = nullptr;
  for (auto at = g_ranges.begin(); at != g_ranges.end() && at->first <= addr; ++at) {
    if (addr >= at->second.end) continue;
    if (length <= at->second.end - addr) return at->second.device;
    partly = &at->second;
  }
  // Memory that begins in front of every segment and reaches into one.
  const auto next = g_ranges.lower_bound(addr);
  if (partly == nullptr && next != g_ranges.end() && next->first > addr &&
      length > next->first - addr)
    partly = &next->second;
  if (partly == nullptr) return nullptr;
  fatal(call, "[{:#x}, {:#x}) lies only partly in a segment of device memory ({})", addr,
        addr + length, partly->device->name());
}

void copy_bytes(const char* call, void* dst, const void* src, size_t length) {
  if (length == 0 || dst == src) return;  // or a conduit has placed it (place_payload)
  copy_between(dst, device_at(call, dst, length), src, device_at(call, src, length), length);
}

void fill_bytes(const char* call, void* dst, int value, size_t length) {
  Device* const device = device_at(call, dst, length);
  if (device == nullptr) {
    std::memset(dst, value, length);
    return;
  }
  std::vector<char> bytes(std::min<size_t>(length, device->policy().chunk),
                          static_cast<char>(value));
  for (size_t at = 0; at < length; at += bytes.size()) {
    device->copy_now(static_cast<char*>(dst) + at, bytes.data(),
                     std::min(bytes.size(), length - at));
  }
}

}  // namespace causeway
