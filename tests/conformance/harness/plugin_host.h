// PluginHost: what one process of the suite offers to the plugin (cwy_services) and the plugin
// itself, loaded through the core's own loader. One per process; a forked partner has its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loader/loader.h"

namespace causeway::conformance {

struct Settings {
  std::string plugin;  // file
  std::string device;
  std::map<std::string, std::string> options;  // --set
  uint64_t seed = 0;
  std::string session_dir;
  std::string job_id;
  bool verbose = false;
};

struct PeerReport {
  cwy_peer peer;
  cwy_peer_state state;
  std::string why;
};

struct DeviceReport {
  std::string device;
  uint32_t state;
  std::string why;
};

class PluginHost {
 public:
  // Says who this process is; before anything of the plugin is touched.
  static void set_identity(const Settings& settings, uint32_t rank, uint32_t epoch);
  static const cwy_job& job();
  static const cwy_services& services();

  // Throws Error with the loader's line.
  static const ConduitPlugin& load_conduit(const Settings& settings);
  static const cwy_options* options();
  // The same with one more option set; NULL: the plugin has no such option.
  static const cwy_options* options_with(const std::string& key, const std::string& value);

  // What the plugin said through peer_state since the last call.
  static std::vector<PeerReport> take_peer_reports();
  // The same of device_state.
  static std::vector<DeviceReport> take_device_reports();
  static uint32_t wakes();

  // Breaches of the contract that were seen where no test could be failed on the spot (inside an
  // upcall, in the partner). The first few, one per line; clears.
  static void violation(const std::string& text);
  static std::string take_violations();
};

}  // namespace causeway::conformance
