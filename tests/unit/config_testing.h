// Helpers of the configuration tests: files that go away, and loading without the machine's site
// file.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/load_config.h"

namespace causeway::testing {

// A private directory, removed with the files written into it.
class Directory {
 public:
  Directory() {
    char name[] = "/tmp/causeway-config-test-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Directory() {
    for (const std::string& file : files_) ::unlink(file.c_str());
    ::rmdir(path_.c_str());
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::string write(const std::string& name, const std::string& text) {
    files_.push_back(path_ + "/" + name);
    std::ofstream(files_.back()) << text;
    return files_.back();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

inline ConfigSources only_sets(std::vector<std::string> sets) {
  ConfigSources sources;
  sources.site_file = "";
  sources.sets = std::move(sets);
  return sources;
}

// The problems of `text` as the content of CAUSEWAY_CONFIG, "f:" standing for the file.
inline std::vector<std::string> problems_of(const std::string& text,
                                            std::vector<std::string> sets = {}) {
  ConfigSources sources = only_sets(std::move(sets));
  Directory files;
  sources.files = {files.write("f", text)};
  const CheckedConfig checked = check_config(sources);
  EXPECT_EQ(checked.problems.empty(), checked.config.has_value());
  std::vector<std::string> out;
  for (const Problem& problem : checked.problems.list()) {
    std::string line = problem.str();
    for (size_t at = line.find(sources.files.at(0)); at != std::string::npos;
         at = line.find(sources.files.at(0))) {
      line.replace(at, sources.files.at(0).size(), "f");
    }
    out.push_back(line);
  }
  return out;
}

inline const ConduitSpec* find_conduit(const Config& config, const std::string& name) {
  const auto found = std::ranges::find(config.conduits, name, &ConduitSpec::name);
  return found == config.conduits.end() ? nullptr : &*found;
}

inline Config load_text(const std::string& text, std::vector<std::string> sets = {}) {
  Directory files;
  ConfigSources sources = only_sets(std::move(sets));
  sources.files = {files.write("f", text)};
  return load_config(sources);
}

}  // namespace causeway::testing
