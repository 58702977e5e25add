// Processors, sockets and signals, beyond 17.1. Sockets are packages of the host, numbered as the
// system numbers them.
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "api/gaspi/entry.h"
#include "api/gaspi/host.h"
#include "base/log.h"

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

// Is the code of a Fortran runtime? One that is linked statically is the program's.
bool is_of_fortran(void* code) {
  Dl_info where{};
  if (::dladdr(code, &where) == 0 || where.dli_fname == nullptr) return false;
  std::string_view file = where.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);  // of no slash: npos + 1, which is 0
  return file.starts_with("libgfortran.") || file.starts_with("libifcore");
}

}  // namespace

void check_binding() {
  const std::string asked = asked_binding();
  if (asked.empty() || asked == "none" || asked == "socket") return;
  refuse(GASPI_ERR_ENV, "GASPI_BIND is '{}'; expected 'none' or 'socket'", asked);
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

void end_without_backtrace() {
  struct sigaction now {};
  if (::sigaction(SIGQUIT, nullptr, &now) != 0) return;
  // Handlers of either kind share the place.
  if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;
  if (is_of_fortran(reinterpret_cast<void*>(now.sa_handler))) ::signal(SIGQUIT, SIG_DFL);
}

gaspi_return_t entry_cpu_frequency(gaspi_float* cpu_mhz) {
  return call("gaspi_cpu_frequency()", [&] {
    require_pointer(cpu_mhz, "cpu_mhz");
    *cpu_mhz = static_cast<gaspi_float>(frequency());
    if (*cpu_mhz <= 0) refuse(GASPI_ERROR, "the system does not say");
  });
}

gaspi_return_t entry_numa_socket(gaspi_uchar* socket) {
  return tell("gaspi_numa_socket()", socket, "socket", [] {
    const int package = package_of(::sched_getcpu());
    if (package < 0) refuse(GASPI_ERROR, "the system does not say");
    return package;
  });
}

gaspi_return_t entry_set_socket_affinity(gaspi_uchar socket) {
  return call("gaspi_set_socket_affinity()", [&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (package_of(cpu) == socket) CPU_SET(static_cast<size_t>(cpu), &set);
    if (CPU_COUNT(&set) == 0) refuse(GASPI_ERROR, "there is no socket {}", socket);
    // The kernel leaves out what this process may not use, and refuses when nothing is left.
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
      refuse(GASPI_ERROR, "this process may not run on socket {}", socket);
  });
}

gaspi_return_t entry_print_affinity_mask(void) {
  return call("gaspi_print_affinity_mask()", [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
      refuse(GASPI_ERROR, "the system does not say");
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<size_t>(cpu), &set)) text += fmt::format(" {}", cpu);
    ::printf("processors:%s\n", text.c_str());
    ::fflush(stdout);
  });
}

}  // namespace causeway::gaspi
