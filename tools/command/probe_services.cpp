#include "probe_services.h"

#include <chrono>

#include "base/log.h"
#include "connection/job.h"
#include "loader/instance.h"
#include "loader/loader.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"

namespace causeway::command {
namespace {

void log_warnings(const char* plugin, cwy_log_level level, const char* text) {
  if (level <= CWY_LOG_WARN)
    log(static_cast<LogLevel>(level), "{}: {}", given(plugin, "a plugin"), given(text, ""));
}

uint64_t monotonic_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

const cwy_job* probe_job(uint32_t ranks) {
  static cwy_job job{};
  job.head = CWY_HEAD(cwy_job);
  job.size = job.local_count = ranks;
  job.epoch = 1;
  job.cpu_count = usable_cpus();
  job.host_id = Card::of_this_process().host_id;
  job.job_id = "probe";
  job.session_dir = "";
  return &job;
}

}  // namespace

const cwy_services* probe_services(uint32_t ranks, uint64_t limit_ns) {
  // Until the command ends, also by exit().
  [[maybe_unused]] static const auto* const watch = new PluginWatch(limit_ns);
  static const cwy_services services = [ranks] {
    cwy_services s{};
    s.head = CWY_HEAD(cwy_services);
    s.job = probe_job(ranks);
    s.log = log_warnings;
    fill_option_services(s);
    fill_wrap_service(s);
    s.peer_state = [](void*, cwy_peer, cwy_peer_state, const char*) {};
    s.device_state = [](void*, const char*, uint32_t, const char*) {};
    s.wake = [](void*) {};
    s.now = monotonic_ns;
    return s;
  }();
  return &services;
}

}  // namespace causeway::command
