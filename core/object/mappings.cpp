#include "object/mappings.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "object/device_memory.h"

namespace causeway {
namespace {

// Not destroyed at exit: what is closed late looks here.
auto& g_mappings_mutex = *new std::shared_mutex;
auto& g_mappings = *new std::vector<Mapping>;

bool holds(uint64_t base, uint64_t size, uint64_t addr, uint64_t length) {
  return addr >= base && addr - base <= size && length <= size - (addr - base);
}

template <typename Which>
bool find(Which&& which, Mapping& out) {
  const std::shared_lock lock(g_mappings_mutex);
  const auto found = std::ranges::find_if(g_mappings, which);
  if (found == g_mappings.end()) return false;
  out = *found;
  return true;
}

}  // namespace

void add_mapping(const Mapping& mapping) {
  const std::lock_guard lock(g_mappings_mutex);
  g_mappings.push_back(mapping);
}

void remove_mapping(const Publication& of) {
  Mapping gone;
  if (!find([&](const Mapping& m) { return m.of == &of; }, gone)) return;
  device_memory.memory_goes(gone.base, gone.size);
  const std::lock_guard lock(g_mappings_mutex);
  std::erase_if(g_mappings, [&](const Mapping& m) { return m.of == &of; });
}

char* mapped_here(uint32_t rank, uint64_t number, uint64_t theirs, uint64_t length) {
  Mapping m;
  const auto fits = [&](const Mapping& at) {
    return at.rank == rank && at.number == number && holds(at.theirs, at.size, theirs, length);
  };
  return find(fits, m) ? reinterpret_cast<char*>(m.base + (theirs - m.theirs)) : nullptr;
}

bool find_mapping(uint64_t here, uint64_t length, uint64_t* base, uint64_t* size) {
  Mapping m;
  if (!find([&](const Mapping& at) { return holds(at.base, at.size, here, length); }, m))
    return false;
  *base = m.base;
  *size = m.size;
  return true;
}

}  // namespace causeway
