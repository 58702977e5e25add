#include "read_only.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace causeway::ucx {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct FreeLine {
  char* text = nullptr;
  ~FreeLine() { std::free(text); }
};

uint64_t number(const void* at) {
  return reinterpret_cast<uint64_t>(at);
}

}  // namespace

bool ReadOnlyMemory::find(const void* at, size_t length) const {
  return std::any_of(ranges_, ranges_ + used_, [&](const Range& range) {
    return number(at) < range.to && range.from < number(at) + length;
  });
}

void ReadOnlyMemory::remember(const Range& range) {
  ranges_[next_] = range;
  next_ = (next_ + 1) % room;
  used_ = std::min(used_ + 1, room);
}

bool ReadOnlyMemory::learn(const void* at, size_t length) {
  const std::unique_ptr<std::FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return false;
  FreeLine line;
  size_t size = 0;
  bool found = false;
  while (getline(&line.text, &size, maps.get()) > 0) {
    Range range{};
    char readable = '-', writable = '-';
    if (std::sscanf(line.text, "%" SCNx64 "-%" SCNx64 " %c%c", &range.from, &range.to, &readable,
                    &writable) != 4)
      continue;
    const bool apart = range.to <= number(at) || number(at) + length <= range.from;
    if (apart || readable != 'r' || writable == 'w') continue;
    remember(range);
    found = true;
  }
  return found;
}

}  // namespace causeway::ucx
