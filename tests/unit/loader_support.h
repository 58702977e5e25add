// What the loader's tests share: where the test plugins lie, services that count, scratch folders.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "loader/loader.h"

namespace causeway::loader_test {

namespace fs = std::filesystem;

inline std::string plugin_directory(const std::string& name) {
  return std::string(CAUSEWAY_BINARY_DIR) + "/lib/test-plugins/" + name;
}
inline std::string plugin_file(const std::string& name) {
  return plugin_directory(name) + "/conduit_" + name + ".so";
}

// Every line the test plugins logged, as "plugin: text".
inline std::vector<std::string>& logged() {
  static std::vector<std::string> lines;
  return lines;
}

inline const cwy_services* services() {
  static cwy_services table = [] {
    cwy_services s{};
    s.head = CWY_HEAD(cwy_services);
    s.log = [](const char* plugin, cwy_log_level, const char* text) {
      logged().push_back(std::string(plugin) + ": " + text);
    };
    fill_option_services(s);
    return s;
  }();
  return &table;
}

inline Config config_with(const std::vector<std::string>& path,
                          LoadErrorPolicy policy = LoadErrorPolicy::ignore) {
  Config config;
  config.plugin_path = path;
  config.on_load_error = policy;
  return config;
}

// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "causeway-loader-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path(const std::string& name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }

 private:
  fs::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

}  // namespace causeway::loader_test
