#include "api_job.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <thread>

namespace api_test {
namespace {

// Objects carry their job's name, "causeway-<user>-<pid of its launcher>-...", and those of the
// conformance suite the suite's, "conformance-<pid>...".
bool job_runs(const std::string& name) {
  unsigned user = 0;
  int owner = 0;
  if (name.starts_with("causeway-conformance-")) return true;  // the suite's, which has no number
  return (std::sscanf(name.c_str(), "causeway-%u-%d-", &user, &owner) == 2 ||
          std::sscanf(name.c_str(), "conformance-%d.", &owner) == 1) &&
         (kill(owner, 0) == 0 || errno == EPERM);
}

// Other jobs of this machine may come and go meanwhile; what was leaked stays.
void expect_no_new_shared_memory(const std::set<std::string>& before) {
  std::set<std::string> added;
  for (const std::string& name : shared_memory())
    if (!before.contains(name) && !job_runs(name)) added.insert(name);
  for (int i = 0; i < 100 && !added.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto now = shared_memory();
    std::erase_if(added, [&](const std::string& name) { return !now.contains(name); });
  }
  for (const std::string& name : added) ADD_FAILURE() << "left in /dev/shm: " << name;
}

}  // namespace

std::string library() {
  return API_LIBRARY;
}
std::string plugin_dir() {
  return API_PLUGINS;
}

namespace {

std::vector<std::string> site(const std::string& file) {
  return {"--config", std::string(CAUSEWAY_SOURCE_DIR) + "/configs/sites/" + file + ".yaml"};
}

std::vector<Network> find_networks() {
  std::vector<Network> found = {{"shm", {}}, {"am_only", site("am-only")}};
  found.back().flags.insert(found.back().flags.end(), {"--set", "report=false"});
  found.push_back({"eth", site("eth")});
  for (const char* name : {"ofi", "ucx"})
    if (std::filesystem::exists(plugin_dir() + "/conduit_" + name + ".so"))
      found.push_back({name, site(std::string(name) + "-tcp")});
  return found;
}

}  // namespace

const std::vector<Network>& networks() {
  static const std::vector<Network> found = find_networks();
  return found;
}

Network network(const std::string& name) {
  for (const Network& n : networks())
    if (n.name == name) return n;
  return {};
}

std::set<std::string> shared_memory() {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored))
    names.insert(entry.path().filename().string());
  return names;
}

launch_test::Result run_command(std::vector<std::string> words, const Environment& environment,
                                double limit_s) {
  const auto before = shared_memory();
  launch_test::Command command(std::move(words), environment);
  const launch_test::Result result = command.run(limit_s);
  launch_test::expect_clean(command);
  expect_no_new_shared_memory(before);
  return result;
}

launch_test::Result run(const Run& what) {
  std::vector<std::string> words = {launch_test::run_command(), "run", "-n",
                                    std::to_string(what.ranks)};
  words.insert(words.end(), what.flags.begin(), what.flags.end());
  words.push_back("--");
  words.push_back(victim(what.threads));
  words.insert(words.end(), what.words.begin(), what.words.end());
  return run_command(std::move(words), what.environment, what.limit_s);
}

std::vector<std::string> lines_with(const std::string& text, const std::string& what) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find(what) != std::string::npos) found.push_back(line);
  return found;
}

void expect_one_error(const launch_test::Result& result, int rank, int ranks,
                      const std::vector<std::string>& parts) {
  const auto errors = lines_with(result.err, "error: ");
  EXPECT_EQ(errors.size(), 1u) << result.err;
  if (errors.empty()) return;
  const std::string speaker = "rank " + std::to_string(rank) + "/" + std::to_string(ranks);
  EXPECT_NE(errors[0].find(speaker), std::string::npos) << errors[0];
  for (const std::string& part : parts)
    EXPECT_NE(errors[0].find(part), std::string::npos)
        << "expected '" << part << "' in: " << errors[0];
}

}  // namespace api_test
