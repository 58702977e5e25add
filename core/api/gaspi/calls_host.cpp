// Processors and sockets, beyond 17.1. Sockets are packages of the host, numbered as the system
// numbers them.
#include <sched.h>
#include <stdio.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "api/gaspi/entry.h"
#include "api/gaspi/host.h"
#include "base/log.h"

using namespace causeway;
using namespace causeway::gaspi;

namespace causeway::gaspi {
namespace {

// -1 when the system does not say.
int package_of(int cpu) {
  std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
  int package = -1;
  in >> package;
  return in ? package : -1;
}

// MHz as /proc/cpuinfo says, or the highest that cpufreq allows; 0 when neither does.
double frequency() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("cpu MHz", 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon != std::string::npos) return std::strtod(line.c_str() + colon + 1, nullptr);
  }
  std::ifstream most("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  double khz = 0;
  most >> khz;
  return khz * 1e-3;
}

std::string asked_binding() {
  const char* const text = std::getenv("GASPI_BIND");
  return text == nullptr ? "" : text;
}

// The processors that the calling thread may use, by socket.
std::map<int, cpu_set_t> usable_sockets() {
  std::map<int, cpu_set_t> sockets;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return sockets;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<size_t>(cpu), &allowed)) continue;
    const int package = package_of(cpu);
    if (package < 0) return {};
    const auto [at, fresh] = sockets.try_emplace(package);
    if (fresh) CPU_ZERO(&at->second);
    CPU_SET(static_cast<size_t>(cpu), &at->second);
  }
  return sockets;
}

}  // namespace

gaspi_return_t check_binding() {
  const std::string asked = asked_binding();
  if (asked.empty() || asked == "none" || asked == "socket") return GASPI_SUCCESS;
  return refuse(GASPI_ERR_ENV, "gaspi_proc_init()",
                fmt::format("GASPI_BIND is '{}'; expected 'none' or 'socket'", asked));
}

uint32_t block_of(uint32_t rank, uint32_t ranks, uint32_t blocks) {
  return static_cast<uint32_t>(static_cast<uint64_t>(rank) * blocks / ranks);
}

void bind_as_asked(uint32_t local_rank, uint32_t local_num) {
  if (asked_binding() != "socket") return;
  const std::map<int, cpu_set_t> sockets = usable_sockets();
  if (!sockets.empty()) {
    auto mine = sockets.begin();
    std::advance(mine, block_of(local_rank, local_num, static_cast<uint32_t>(sockets.size())));
    if (::sched_setaffinity(0, sizeof mine->second, &mine->second) == 0) return;
  }
  log_warn(
      "gaspi_proc_init(): GASPI_BIND=socket: the system does not say which processors form a "
      "socket, or does not let this process bind itself; it is not bound");
}

}  // namespace causeway::gaspi

CAUSEWAY_API gaspi_return_t cwy_gaspi_cpu_frequency_v1(gaspi_float* cpu_mhz) {
  constexpr const char* kCall = "gaspi_cpu_frequency()";
  if (cpu_mhz == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "cpu_mhz is NULL");
  *cpu_mhz = static_cast<gaspi_float>(frequency());
  if (*cpu_mhz > 0) return GASPI_SUCCESS;
  return refuse(GASPI_ERROR, kCall, "the system does not say");
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_numa_socket_v1(gaspi_uchar* socket) {
  constexpr const char* kCall = "gaspi_numa_socket()";
  if (socket == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "socket is NULL");
  const int package = package_of(::sched_getcpu());
  if (package < 0) return refuse(GASPI_ERROR, kCall, "the system does not say");
  *socket = static_cast<gaspi_uchar>(package);
  return GASPI_SUCCESS;
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_set_socket_affinity_v1(gaspi_uchar socket) {
  constexpr const char* kCall = "gaspi_set_socket_affinity()";
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (package_of(cpu) == socket) CPU_SET(static_cast<size_t>(cpu), &set);
  }
  if (CPU_COUNT(&set) == 0) {
    return refuse(GASPI_ERROR, kCall, fmt::format("there is no socket {}", socket));
  }
  // The kernel leaves out what this process may not use, and refuses when nothing is left.
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return GASPI_SUCCESS;
  return refuse(GASPI_ERROR, kCall, fmt::format("this process may not run on socket {}", socket));
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_print_affinity_mask_v1(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) {
    return refuse(GASPI_ERROR, "gaspi_print_affinity_mask()", "the system does not say");
  }
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) text += fmt::format(" {}", cpu);
  }
  ::printf("processors:%s\n", text.c_str());
  ::fflush(stdout);
  return GASPI_SUCCESS;
}
