#include "spawn/limits.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/error.h"

namespace causeway {
namespace {

// Two listening sockets, the pipes and epoll sets of two threads, and what the machine is looked at
// through: some dozens.
constexpr size_t kLibraryDescriptors = 64;

// The soft limit; nothing where there is none.
std::optional<uint64_t> limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The directories of this process's control group and those above it, which may limit it as well.
std::vector<std::string> control_groups(const std::string& controller) {
  std::vector<std::string> found;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    if (!kind.empty() && kind != controller) continue;
    const std::string root = "/sys/fs/cgroup" + (kind.empty() ? kind : "/" + kind);
    for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
      found.push_back(root + path);
      if (path.rfind('/') == std::string::npos) break;
    }
  }
  return found;
}

std::string process_limit() {
  for (const std::string& group : control_groups("pids")) {
    const auto most = number_in(group + "/pids.max"), now = number_in(group + "/pids.current");
    if (most && now && *now >= *most)
      return fmt::format("the control group may have {} processes ({}/pids.max)", *most, group);
  }
  const auto of_user = limit_of(RLIMIT_NPROC);
  if (of_user && ::getuid() != 0)
    return fmt::format("the limit on a user's processes (ulimit -u) is {}", *of_user);
  return fmt::format(
      "the system may have {} processes (kernel.pid_max) and {} threads "
      "(kernel.threads-max)",
      number_in("/proc/sys/kernel/pid_max").value_or(0),
      number_in("/proc/sys/kernel/threads-max").value_or(0));
}

std::string memory_limit() {
  if (const auto space = limit_of(RLIMIT_AS))
    return fmt::format("the limit on address space (ulimit -v) is {} KiB", *space >> 10);
  for (const std::string& group : control_groups("memory")) {
    const auto most = number_in(group + "/memory.max");
    if (most) return fmt::format("the control group may have {} MiB of memory", *most >> 20);
  }
  return "the machine has no more memory";
}

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

void demand_descriptors(size_t processes, size_t others) {
  constexpr size_t each = 4;
  const size_t own = others + kLibraryDescriptors;
  const auto limit = limit_of(RLIMIT_NOFILE);
  if (!limit || own + each * processes <= *limit) return;
  throw Error(CWY_ERR_NOMEM,
              "{} processes need {} open files, but the limit on open files (ulimit -Hn) is {}; "
              "raise it, or start fewer",
              processes, own + each * processes, *limit);
}

bool file_may_have(size_t bytes) {
  return limit_of(RLIMIT_FSIZE).value_or(bytes) >= bytes;
}

bool affinity_is_known() {
  std::array<unsigned long, 1024> mask;  // of more processors than Linux knows
  return ::secure_getenv("HWLOC_SYNTHETIC") != nullptr ||
         ::syscall(SYS_sched_getaffinity, 0, sizeof mask, mask.data()) >= 0;
}

void demand_affinity() {
  if (!affinity_is_known())
    throw Error(CWY_ERR_UNSUPPORTED,
                "sched_getaffinity(): {} hwloc needs it; or set HWLOC_SYNTHETIC=pu:1",
                shortage(errno));
}

std::string shortage(int failure) {
  const std::string text = std::strerror(failure);
  switch (failure) {
    case EMFILE:
      return fmt::format("{}; the limit on open files (ulimit -n) is {}", text,
                         limit_of(RLIMIT_NOFILE).value_or(0));
    case ENFILE:
      return fmt::format("{}; the system may have {} open files (fs.file-max)", text,
                         number_in("/proc/sys/fs/file-max").value_or(0));
    case EAGAIN:
      // A thread whose stack cannot be mapped is refused with this, too.
      return fmt::format("{}; {}{}", text, process_limit(),
                         limit_of(RLIMIT_AS) ? ", and " + memory_limit() : "");
    case EPERM:
      return text + "; does a container's seccomp profile refuse it?";
    case ENOMEM:
      return fmt::format("{}; {}", text, memory_limit());
    default:
      return text;
  }
}

void demand_call(bool works, const char* call) {
  if (!works) throw Error(CWY_ERR_UNSUPPORTED, "{}: {}", call, shortage(errno));
}

void LowDescriptors::reserve(size_t more) {
  for (size_t i = 0; i < kLibraryDescriptors + more; ++i) {
    UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    // None below is free: nothing is left to be kept.
    if (!fd || fd.get() >= FD_SETSIZE) return;
    held_.push_back(std::move(fd));
  }
}

}  // namespace causeway
