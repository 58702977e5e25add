// Facts about this host and process, scheduling, limits.
#include <gasnet_tools.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <string>

#include "api/export.h"

namespace {

std::string own_hostname() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "unknown";
}

std::string own_executable() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return n > 0 && static_cast<size_t>(n) < sizeof path ? std::string(path, static_cast<size_t>(n))
                                                       : std::string();
}

struct Limit {
  int resource;
  const char* name;
};
constexpr Limit kLimits[] = {{RLIMIT_CPU, "RLIMIT_CPU"},   {RLIMIT_AS, "RLIMIT_AS"},
                             {RLIMIT_DATA, "RLIMIT_DATA"}, {RLIMIT_STACK, "RLIMIT_STACK"},
                             {RLIMIT_RSS, "RLIMIT_RSS"},   {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"}};

}  // namespace

CAUSEWAY_API const char* gasnett_gethostname(void) {
  static const std::string name = own_hostname();
  return name.c_str();
}

CAUSEWAY_API int gasnett_cpu_count(void) {
  const long n = ::sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? static_cast<int>(n) : 0;
}

CAUSEWAY_API uint64_t gasnett_getPhysMemSz(int failure_is_fatal) {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  if (failure_is_fatal) gasnett_fatalerror_nopos("the size of this host's memory is not known");
  return 0;
}

CAUSEWAY_API const char* gasnett_exe_name(void) {
  static const std::string name = own_executable();
  return name.c_str();
}

CAUSEWAY_API int gasnett_isLittleEndian(void) {
#ifdef PLATFORM_ARCH_LITTLE_ENDIAN
  return 1;
#else
  return 0;
#endif
}

CAUSEWAY_API const char* gasnett_performance_warning_str(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "        built with a sanitizer\n";
#elif !defined(__OPTIMIZE__)
  return "        built without optimisation\n";
#else
  return "";
#endif
}

CAUSEWAY_API const char* gasnett_release_version_str(void) {
  return _STRINGIFY(GASNET_RELEASE_VERSION_MAJOR) "." _STRINGIFY(
      GASNET_RELEASE_VERSION_MINOR) "." _STRINGIFY(GASNET_RELEASE_VERSION_PATCH);
}

CAUSEWAY_API uint64_t gasnett_release_version(void) {
  return (GASNET_RELEASE_VERSION_MAJOR * 100ull + GASNET_RELEASE_VERSION_MINOR) * 10000ull +
         GASNET_RELEASE_VERSION_PATCH;
}

CAUSEWAY_API void gasnett_sched_yield(void) {
  ::sched_yield();
}

CAUSEWAY_API int gasnett_set_affinity(int rank) {
  const int cpus = gasnett_cpu_count();
  if (rank < 0 || cpus == 0) return 1;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(rank % cpus), &set);
  return ::sched_setaffinity(0, sizeof set, &set) != 0;
}

CAUSEWAY_API int gasnett_maximize_rlimit(int res, const char* lim_desc) {
  const std::string key = std::string("GASNET_MAXIMIZE_") + lim_desc;
  if (!gasnett_getenv_yesno_withdefault(key.c_str(), 1)) return 1;
  const auto resource = static_cast<__rlimit_resource>(res);
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(resource, &limit) == 0;
}

CAUSEWAY_API int gasnett_maximize_rlimits(void) {
  int all = 1;
  for (const Limit& limit : kLimits) all &= gasnett_maximize_rlimit(limit.resource, limit.name);
  return all;
}

CAUSEWAY_API void* gasnett_mmap(uintptr_t size) {
  void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p != MAP_FAILED ? p : nullptr;
}
