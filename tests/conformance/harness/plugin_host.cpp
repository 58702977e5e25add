#include "plugin_host.h"

#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "clock.h"
#include "connection/wrapping.h"
#include "loader/one_line.h"
#include "random.h"

namespace causeway::conformance {
namespace {

struct State {
  Settings settings;
  cwy_job job{};
  cwy_services services{};
  std::unique_ptr<Config> config;
  std::unique_ptr<Loader> loader;
  ConfiguredConduit conduit;
  std::map<std::string, std::shared_ptr<const OptionValues>> flawed;  // by the option that is set
  std::mutex lock;  // peer_state may come from a thread of the plugin's own
  std::vector<PeerReport> reports;
  std::vector<DeviceReport> device_reports;
  std::vector<std::string> violations;
  uint32_t violation_count = 0;
  std::atomic<uint32_t> wakes{0};
};

State& state() {
  static State* const instance = new State;  // outlives the plugin's own static destructors
  return *instance;
}

void service_log(const char* plugin, cwy_log_level level, const char* text) {
  if (level > CWY_LOG_WARN && !state().settings.verbose) return;
  fmt::print(stderr, "  [{}, rank {}] {}\n", given(plugin, "?"), state().job.rank, given(text, ""));
}

void service_peer_state(void*, cwy_peer peer, cwy_peer_state what, const char* why) {
  const std::lock_guard guard(state().lock);
  state().reports.push_back({peer, what, given(why, "")});
}

void service_device_state(void*, const char* device, uint32_t what, const char* why) {
  const std::lock_guard guard(state().lock);
  state().device_reports.push_back({given(device, ""), what, given(why, "")});
}

// Relaxed: only counted.
void service_wake(void*) {
  state().wakes.fetch_add(1, std::memory_order_relaxed);
}

uint64_t service_now() {
  return now_ns();
}

}  // namespace

void Deadline::check() const {
  if (passed()) throw Stuck(fmt::format("{}: not within {:g} s", what_, seconds_));
}

void fill_pattern(void* to, size_t length, uint64_t key) {
  auto* bytes = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < length; ++i) bytes[i] = pattern_byte(key, i);
}

size_t first_difference(const void* data, size_t length, uint64_t key) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < length; ++i) {
    if (bytes[i] != pattern_byte(key, i)) return i;
  }
  return length;
}

void PluginHost::set_identity(const Settings& settings, uint32_t rank, uint32_t epoch) {
  State& s = state();
  s.settings = settings;
  cwy_job& job = s.job;
  job.head = CWY_HEAD(cwy_job);
  job.rank = rank;
  job.size = 2;
  job.epoch = epoch;
  job.local_count = 2;
  job.local_index = rank;
  job.cpu_count = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  job.host_id = 0x436f6e666f726d21u;
  job.job_id = s.settings.job_id.c_str();
  job.session_dir = s.settings.session_dir.c_str();
  s.services = {};
  s.services.head = CWY_HEAD(cwy_services);
  s.services.job = &job;
  s.services.log = service_log;
  fill_option_services(s.services);
  fill_wrap_service(s.services);
  s.services.peer_state = service_peer_state;
  s.services.wake = service_wake;
  s.services.now = service_now;
  s.services.device_state = service_device_state;
}

const cwy_job& PluginHost::job() {
  return state().job;
}
const cwy_services& PluginHost::services() {
  return state().services;
}

const ConduitPlugin& PluginHost::load_conduit(const Settings& settings) {
  State& s = state();
  if (!s.loader) {
    s.config = std::make_unique<Config>();
    s.loader = std::make_unique<Loader>(*s.config, &s.services);
  }
  const ConduitPlugin* plugin = s.loader->file<ConduitPlugin>(settings.plugin);
  if (!s.conduit.plugin) {
    ConduitSpec spec;
    spec.name = spec.plugin = plugin->manifest.name;
    spec.options = settings.options;
    for (const auto& [key, value] : settings.options)
      spec.option_origins[key] = {"--set " + key, 0, 0};
    // What it wraps, if it does, is a plugin of that name with its default options.
    ConduitConfigurer configurer(*s.config, *s.loader, [](ConduitSpec&, const Manifest&) {});
    s.conduit = configurer.configure(spec, *plugin);
  }
  return *s.conduit.plugin;
}

const cwy_options* PluginHost::options() {
  return as_c(state().conduit.options.get());
}

const cwy_options* PluginHost::options_with(const std::string& key, const std::string& value) {
  State& s = state();
  std::shared_ptr<const OptionValues>& made = s.flawed[key];
  if (!made) {
    const Manifest& manifest = load_conduit(s.settings).manifest;
    const auto named = [&](const auto& option) { return option.key == key; };
    if (std::none_of(manifest.options.begin(), manifest.options.end(), named)) return nullptr;
    std::map<std::string, std::string> values = s.settings.options;
    values[key] = value;
    made = make_options(manifest, values, {});
  }
  return as_c(made.get());
}

std::vector<DeviceReport> PluginHost::take_device_reports() {
  const std::lock_guard guard(state().lock);
  return std::exchange(state().device_reports, {});
}

std::vector<PeerReport> PluginHost::take_peer_reports() {
  const std::lock_guard guard(state().lock);
  return std::exchange(state().reports, {});
}

uint32_t PluginHost::wakes() {
  return state().wakes.load(std::memory_order_relaxed);
}

void PluginHost::violation(const std::string& text) {
  const std::lock_guard guard(state().lock);
  ++state().violation_count;
  if (state().violations.size() < 5) state().violations.push_back(text);
}

std::string PluginHost::take_violations() {
  const std::lock_guard guard(state().lock);
  std::string all = fmt::format("{}", fmt::join(state().violations, "\n"));
  if (state().violation_count > state().violations.size()) {
    all += fmt::format("\n... and {} more", state().violation_count - state().violations.size());
  }
  state().violations.clear();
  state().violation_count = 0;
  return all;
}

}  // namespace causeway::conformance
