// The debugging allocator behind gasnett_debug_*: see causeway/tools/debug_malloc.h.
#define GASNET_DEBUGMALLOC 1
#include <gasnet_tools.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "api/export.h"

namespace {

constexpr uint64_t kGuard = 0x600DB10C600DB10Cull;
constexpr int kFresh = 0xA5, kGone = 0xDD;

// In front of each block, as long as malloc's alignment asks for; a guard word ends it, and
// another stands behind the block.
struct alignas(16) Header {
  size_t size;
  const char* where;
  uint64_t number;
  uint64_t guard;
};
constexpr size_t kOverhead = sizeof(Header) + sizeof(uint64_t);

const char* text(const char* where) {
  return where != nullptr ? where : "an unnamed place";
}

class Heap {
 public:
  void* give(size_t size, const char* where) {
    if (size == 0) return nullptr;
    auto* h = static_cast<Header*>(size <= SIZE_MAX - kOverhead ? std::malloc(size + kOverhead)
                                                                : nullptr);
    if (h == nullptr) {
      gasnett_fatalerror_nopos("gasnett_debug_malloc(%zu): out of memory, at %s", size,
                               text(where));
    }
    char* const block = reinterpret_cast<char*>(h + 1);
    std::memset(block, kFresh, size);
    std::memcpy(block + size, &kGuard, sizeof kGuard);
    const std::lock_guard lock(mutex_);
    *h = {size, where, ++stats_.allocated_objects, kGuard};
    blocks_.emplace(block, h);
    stats_.allocated_bytes += size;
    stats_.live_bytes += size;
    stats_.live_bytes_max = std::max(stats_.live_bytes_max, stats_.live_bytes);
    stats_.live_objects = blocks_.size();
    stats_.live_objects_max = std::max(stats_.live_objects_max, stats_.live_objects);
    return block;
  }

  void take(void* p, const char* call, const char* where) {
    if (p == nullptr) return;
    Header* h = nullptr;
    {
      const std::lock_guard lock(mutex_);
      h = find(p, call, where);
      require_whole(p, *h, call, where);
      blocks_.erase(p);
      ++stats_.freed_objects;
      stats_.freed_bytes += h->size;
      stats_.live_bytes -= h->size;
      stats_.live_objects = blocks_.size();
    }
    std::memset(p, kGone, h->size);
    h->guard = ~kGuard;
    std::free(h);
  }

  size_t check(void* p, const char* call, const char* where) {
    if (p == nullptr) return 0;
    const std::lock_guard lock(mutex_);
    const Header* h = find(p, call, where);
    require_whole(p, *h, call, where);
    return h->size;
  }

  void check_one(const char* where) {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return;
    auto next = blocks_.upper_bound(checked_);
    if (next == blocks_.end()) next = blocks_.begin();
    checked_ = next->first;
    require_whole(next->first, *next->second, "gasnett_debug_memcheck_one", where);
  }
  void check_all(const char* where) {
    const std::lock_guard lock(mutex_);
    for (const auto& [block, header] : blocks_)
      require_whole(block, *header, "gasnett_debug_memcheck_all", where);
  }

  gasnett_heapstats_t stats() {
    const std::lock_guard lock(mutex_);
    gasnett_heapstats_t out = stats_;
    out.overhead_bytes = blocks_.size() * kOverhead;
    return out;
  }

  void dump(std::FILE* out, bool live) {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::pair<uint64_t, uint64_t>> places;  // objects, bytes
    for (const auto& [block, h] : blocks_) {
      if (live) {
        std::fprintf(out, "%p %zu bytes, allocation %llu, from %s\n", block, h->size,
                     static_cast<unsigned long long>(h->number), text(h->where));
      }
      auto& [objects, bytes] = places[text(h->where)];
      ++objects;
      bytes += h->size;
    }
    if (live) return;
    for (const auto& [place, total] : places) {
      std::fprintf(out, "%llu objects, %llu bytes, from %s\n",
                   static_cast<unsigned long long>(total.first),
                   static_cast<unsigned long long>(total.second), place.c_str());
    }
  }

 private:
  Header* find(void* p, const char* call, const char* where) {
    const auto found = blocks_.find(p);
    if (found != blocks_.end()) return found->second;
    gasnett_fatalerror_nopos(
        "%s(%p) at %s: no block of this allocator begins there, or it was freed already", call, p,
        text(where));
  }
  void require_whole(const void* p, const Header& h, const char* call, const char* where) {
    const char* beyond = nullptr;
    if (h.guard != kGuard) beyond = "in front of";
    if (beyond == nullptr &&
        std::memcmp(static_cast<const char*>(p) + h.size, &kGuard, sizeof kGuard) != 0)
      beyond = "behind";
    if (beyond == nullptr) return;
    gasnett_fatalerror_nopos(
        "%s() at %s: memory %s the block at %p (%zu bytes, from %s) was overwritten", call,
        text(where), beyond, p, beyond[0] == 'b' ? h.size : size_t{0},
        beyond[0] == 'b' ? text(h.where) : "a place overwritten too");
  }

  std::mutex mutex_;
  std::map<void*, Header*> blocks_;
  void* checked_ = nullptr;  // the block that check_one() looked at last
  gasnett_heapstats_t stats_{};
};

// Never destroyed: programs free in their last exit handlers.
Heap& heap() {
  static Heap* const instance = new Heap;
  return *instance;
}

}  // namespace

CAUSEWAY_API void* cwy_tools_malloc_v1(size_t size, const char* where) {
  return heap().give(size, where);
}

CAUSEWAY_API void* cwy_tools_calloc_v1(size_t count, size_t size, const char* where) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
  void* p = heap().give(bytes, where);
  if (p != nullptr) std::memset(p, 0, bytes);
  return p;
}

// Always moves, so that a pointer kept to the old place shows.
CAUSEWAY_API void* cwy_tools_realloc_v1(void* p, size_t size, const char* where) {
  constexpr const char* kCall = "gasnett_debug_realloc";
  const size_t before = heap().check(p, kCall, where);
  void* fresh = heap().give(size, where);
  if (fresh != nullptr && p != nullptr) std::memcpy(fresh, p, std::min(before, size));
  heap().take(p, kCall, where);
  return fresh;
}

CAUSEWAY_API void cwy_tools_free_v1(void* p, const char* where) {
  heap().take(p, "gasnett_debug_free", where);
}

namespace {

char* copy_of(const char* s, size_t length, const char* where) {
  auto* copy = static_cast<char*>(heap().give(length + 1, where));
  std::memcpy(copy, s, length);
  copy[length] = '\0';
  return copy;
}

}  // namespace

CAUSEWAY_API char* cwy_tools_strdup_v1(const char* s, const char* where) {
  return copy_of(s, std::strlen(s), where);
}
CAUSEWAY_API char* cwy_tools_strndup_v1(const char* s, size_t n, const char* where) {
  return copy_of(s, ::strnlen(s, n), where);
}

CAUSEWAY_API size_t cwy_tools_memcheck_v1(void* p, const char* where) {
  return heap().check(p, "gasnett_debug_memcheck", where);
}
CAUSEWAY_API void cwy_tools_memcheck_one_v1(const char* where) {
  heap().check_one(where);
}
CAUSEWAY_API void cwy_tools_memcheck_all_v1(const char* where) {
  heap().check_all(where);
}

CAUSEWAY_API int cwy_tools_heapstats_v1(gasnett_heapstats_t* stats) {
  *stats = heap().stats();
  return 0;
}

CAUSEWAY_API int cwy_tools_heapinfo_v1(const char* file, int live) {
  const bool to_stderr = file == nullptr || std::strcmp(file, "-") == 0;
  std::FILE* out = to_stderr ? stderr : std::fopen(file, "w");
  if (out == nullptr) return errno;
  heap().dump(out, live != 0);
  return to_stderr || std::fclose(out) == 0 ? 0 : errno;
}
