// Places: which addresses of this process are device memory. The list holds the segments of device
// memory, by address; a process without any pays one load of a number that nobody writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace causeway {

class Device;

void add_device_range(uint64_t base, uint64_t size, Device* device);
void remove_device_range(uint64_t base, uint64_t size);

// Device segments of this process. Relaxed: an address in one comes from the thread that made it.
[[gnu::visibility("hidden")]] inline std::atomic<uint32_t> device_ranges{0};

// The device of the segment that holds `addr`, NULL for host memory. Ends the job where the range
// leaves that segment. Any thread, any context.
Device* find_device_range(const char* call, uint64_t addr, uint64_t length);
inline Device* device_at(const char* call, uint64_t addr, uint64_t length) {
  if (__builtin_expect(device_ranges.load(std::memory_order_relaxed) == 0, 1)) return nullptr;
  return find_device_range(call, addr, length);
}
inline Device* device_at(const char* call, const void* addr, size_t length) {
  return device_at(call, reinterpret_cast<uint64_t>(addr), length);
}

// memcpy between places, each host memory or a segment of device memory here. Any context.
void copy_bytes(const char* call, void* dst, const void* src, size_t length);
// memset likewise.
void fill_bytes(const char* call, void* dst, int value, size_t length);

}  // namespace causeway
