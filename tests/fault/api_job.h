// Runs the victim as a job and holds what must be true after any end: one clear message, a
// nonzero status, soon, and nothing left behind.
#pragma once

#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launch_harness.h"

namespace api_test {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Run {
  std::vector<std::string> words;  // arguments of the victim
  int ranks = 2;
  std::vector<std::string> flags = {};  // of `causeway run`
  bool threads = false;                 // the PAR victim
  Environment environment = {};
  double limit_s = 20.0;
};

// Also checks that no process, file or shared-memory object is left.
launch_test::Result run(const Run& what);
launch_test::Result run_command(std::vector<std::string> words, const Environment& environment = {},
                                double limit_s = 20.0);

std::string victim(bool threads = false);
std::string library();     // path of libcauseway.so
std::string plugin_dir();  // where its plugins lie

// The network of a job, and the flags of `causeway run` for it: shm, am_only (shm without
// its native operations), and of ofi and ucx over TCP those that were built.
struct Network {
  std::string name;
  std::vector<std::string> flags;
};
// Cases are named by it, so that their names are the same in each build.
inline void PrintTo(const Network& network, std::ostream* out) {
  *out << network.name;
}
const std::vector<Network>& networks();
Network network(const std::string& name);

// Names below /dev/shm.
std::set<std::string> shared_memory();
std::vector<std::string> lines_with(const std::string& text, const std::string& what);

// Exactly one "error:" line, from `rank`, that contains each of `parts`.
void expect_one_error(const launch_test::Result& result, int rank, int ranks,
                      const std::vector<std::string>& parts);
// Ended by itself, within what a person waits for.
constexpr double kSoon = 6.0 * kSlowdown;

}  // namespace api_test
