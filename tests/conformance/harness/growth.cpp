#include "growth.h"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect.h"

namespace causeway::conformance {
namespace {

struct Held {
  size_t descriptors = 0, mappings = 0, heap = 0;
};
Held held() {
  Held all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++all.descriptors;
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++all.mappings;
  const struct mallinfo2 heap = mallinfo2();
  all.heap = heap.uordblks + heap.hblkhd;
  return all;
}

}  // namespace

static size_t growth_of(const char* what, const std::function<void()>& cycle, size_t more) {
  const Held before = held();
  for (size_t i = 0; i < more; ++i) cycle();
  const Held after = held();
  EXPECT_LT(after.descriptors, before.descriptors + more / 4) << what << " leaks file descriptors";
  EXPECT_LT(after.mappings, before.mappings + more / 4) << what << " leaks memory mappings";
  return (std::max(after.heap, before.heap) - before.heap) / more;
}

void expect_no_growth(const char* what, const std::function<void()>& cycle, size_t first,
                      size_t more, size_t most_heap) {
  for (size_t i = 0; i < first; ++i) cycle();
  size_t least = SIZE_MAX;
  for (int round = 0; round < 3 && least >= most_heap; ++round)
    least = std::min(least, growth_of(what, cycle, more));
  EXPECT_LT(least, most_heap) << "bytes of heap stay with each " << what;
}

}  // namespace causeway::conformance
