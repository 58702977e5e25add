#include "limits.h"

#include <sys/resource.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "../common/shared_room.h"

namespace causeway::shm {
namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Value of "key:   123 kB" in /proc/meminfo, in bytes; 0 when it is not there.
uint64_t meminfo(const char* key) {
  File file(std::fopen("/proc/meminfo", "re"));
  char line[256];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    uint64_t kib = 0;
    const size_t n = std::strlen(key);
    if (std::strncmp(line, key, n) == 0 && line[n] == ':' &&
        std::sscanf(line + n + 1, "%" SCNu64, &kib) == 1)
      return kib << 10;
  }
  return 0;
}

// The smallest memory.max of this process's control group (version 2) and those above it.
uint64_t control_group_limit() {
  File file(std::fopen("/proc/self/cgroup", "re"));
  char line[1024];
  std::string group;
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    if (std::strncmp(line, "0::", 3) != 0) continue;
    line[std::strcspn(line, "\n")] = '\0';
    group = line + 3;
  }
  uint64_t least = UINT64_MAX;
  while (!group.empty() && group != "/") {
    File limit(std::fopen(("/sys/fs/cgroup" + group + "/memory.max").c_str(), "re"));
    uint64_t bytes = 0;
    if (limit && std::fscanf(limit.get(), "%" SCNu64, &bytes) == 1 && bytes < least) least = bytes;
    group.resize(group.rfind('/'));
  }
  return least;
}

}  // namespace

size_t huge_page_bytes() {
  return static_cast<size_t>(meminfo("Hugepagesize"));
}

bool file_size_allowed(size_t length, char* why, size_t why_size) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || length <= limit.rlim_cur) return true;
  std::snprintf(why, why_size, "the file size limit (ulimit -f) is %" PRIu64 " bytes",
                uint64_t(limit.rlim_cur));
  return false;
}

bool memory_suffices(size_t length, const char* directory, char* why, size_t why_size) {
  const auto refuse = [&](const char* what, uint64_t bytes) {
    std::snprintf(why, why_size, "%s %" PRIu64 " bytes", what, bytes);
    return false;
  };
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      length > limit.rlim_cur)
    return refuse("the address space limit (ulimit -v) is", limit.rlim_cur);
  const uint64_t available = meminfo("MemAvailable");
  if (available != 0 && length > available + meminfo("SwapFree"))
    return refuse("memory and swap of this machine leave", available + meminfo("SwapFree"));
  const uint64_t group = control_group_limit();
  if (length > group) return refuse("the control group allows", group);
  const uint64_t room = directory != nullptr ? room_in(directory) : UINT64_MAX;
  if (length <= room) return true;
  std::snprintf(why, why_size,
                "%s has %" PRIu64 " bytes free (enlarge it, or choose memory: memfd)", directory,
                room);
  return false;
}

}  // namespace causeway::shm
