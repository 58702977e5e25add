// The configurations that seeds are dealt over, and what a seed adds to one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace storm {

struct Configuration {
  std::string name;
  std::vector<std::string> flags;  // of `causeway run`
  uint32_t least = 2, most = 5;    // ranks
  std::string needs;               // a conduit that may not have been built
};

// All; the first kQuick are those of a quick run.
const std::vector<Configuration>& configurations();
inline constexpr size_t kQuick = 6;
const Configuration* find_configuration(std::string_view name);

struct Job {
  const Configuration* configuration = nullptr;
  uint64_t seed = 0;
  uint32_t ranks = 0;
  uint32_t ops = 0;
  uint32_t steps = 0;
  // The configuration's how-many-th job it is: chooses the algorithms that are forced.
  uint64_t turn = 0;
  std::string program;   // the client
  std::string standins;  // a folder; without a stand-in there `ops` has no devices
  double limit_s = 60;

  // Additions of the seed: algorithms that are forced in turn, ways that are closed, faults of
  // chaos.
  std::vector<std::string> flags() const;
  std::vector<std::pair<std::string, std::string>> environment() const;
  // A script that each rank is to be started by, or nothing.
  std::string wrapper() const;
  std::string again() const;  // how to run it once more
};
// Which of cuda, hip and ze have a stand-in for their driver there.
std::vector<std::string> standins_in(const std::string& folder);
uint32_t ranks_of(const Configuration& configuration, uint64_t seed);

}  // namespace storm
