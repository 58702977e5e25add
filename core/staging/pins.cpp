#include "staging/pins.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "kinds/device.h"
#include "loader/one_line.h"
#include "object/mappings.h"
#include "object/segment.h"

namespace causeway {
namespace {

// Drivers copy less than that through buffers of their own without waiting (CUDA driver API, "API
// synchronization behavior"), and page-locking costs more than such copies gain.
constexpr size_t kLeast = 64 << 10;

struct Pin {
  Device* device;
  uint64_t base, size;
  bool held;     // false: it was refused, and is not tried again
  bool counted;  // among the bytes that the configuration allows
};
std::mutex g_pins_mutex;
// Not destroyed at exit: devices may go later.
auto& g_pins = *new std::vector<Pin>;
std::atomic<size_t> g_count{0};  // relaxed: the thread that ends a segment ended its copies before

void let_go(const Pin& pin) {
  if (!pin.held) return;
  pin.device->module().unpin_host(pin.device->kind(), reinterpret_cast<void*>(pin.base));
}

template <typename Which>
void let_go_if(Which&& which) {
  if (g_count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(g_pins_mutex);
  std::erase_if(g_pins, [&](const Pin& pin) {
    if (!which(pin)) return false;
    let_go(pin);
    return true;
  });
  g_count.store(g_pins.size(), std::memory_order_relaxed);
}

// Under g_pins_mutex.
bool is_known(const Device& device, uint64_t base, uint64_t size) {
  for (const Pin& pin : g_pins)
    if (pin.device == &device && pin.base <= base && base + size <= pin.base + pin.size)
      return true;
  return false;
}

uint64_t held_by(const Device& device) {
  uint64_t bytes = 0;
  for (const Pin& pin : g_pins)
    bytes += pin.device == &device && pin.held && pin.counted ? pin.size : 0;
  return bytes;
}

// Under g_pins_mutex.
bool try_pin(Device& device, uint64_t base, uint64_t size) {
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const bool pinned =
      device.module().pin_host(device.kind(), reinterpret_cast<void*>(base), size, &err) == CWY_OK;
  log_debug("memory kinds: {}: {} bytes at {:#x} are {}page-locked{}", device.name(), size, base,
            pinned ? "" : "not ", pinned ? std::string() : fmt::format(" ({})", text_of(err)));
  return pinned;
}

void note(const Pin& pin) {
  g_pins.push_back(pin);
  g_count.store(g_pins.size(), std::memory_order_relaxed);
}

}  // namespace

void pin_for_copy(Device& device, const void* host, size_t length) {
  const uint64_t most = device.policy().pin;
  if (length <= kLeast || most == 0) return;
  const auto at = reinterpret_cast<uint64_t>(host);
  const std::lock_guard lock(g_pins_mutex);
  uint64_t base = 0, size = 0;
  if (is_known(device, at, length)) return;
  if (!find_segment(at, length, &base, &size) && !find_mapping(at, length, &base, &size)) return;
  const uint64_t held = held_by(device);
  bool pinned = false;
  if (size <= most && held <= most - size) {
    pinned = try_pin(device, base, size);
  } else {
    log_info("{}: copies of the segment of {} bytes at {:#x} are slower: memkinds.{}.pin allows {}",
             device.name(), size, base, device.plugin_name(), most);
  }
  note({&device, base, size, pinned, true});
}

void pin_buffers(Device& device, const void* memory, size_t size) {
  const auto base = reinterpret_cast<uint64_t>(memory);
  const std::lock_guard lock(g_pins_mutex);
  if (!is_known(device, base, size))
    note({&device, base, size, try_pin(device, base, size), false});
}

void unpin_range(uint64_t base, uint64_t size) {
  let_go_if([&](const Pin& pin) { return pin.base == base && pin.size == size; });
}

void unpin_all(Device& device) {
  let_go_if([&](const Pin& pin) { return pin.device == &device; });
}

}  // namespace causeway
