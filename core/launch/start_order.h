// StartOrder: everything that a relay has to know to start its part of a job.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/affinity.h"
#include "launch/layout.h"
#include "spawn/rank_process.h"

namespace causeway::launch {

struct StartOrder {
  JobLayout layout;
  uint32_t host = 0;
  std::vector<Program> programs;
  std::string directory;
  std::vector<std::string> environment;  // "NAME=value"
  Binding binding;
  std::optional<uint32_t> stdin_process;
  double kill_grace_s = 1.0;
  double peer_s = 30.0;  // silence of the other side until it counts as lost

  std::string pack() const;
  static StartOrder unpack(std::string_view bytes);  // throws Error

 private:
  template <typename Order, typename Each>
  static void each_field(Order& order, Each each);
};

// This process's environment as the ranks on other hosts should have it: everything, but for what
// belongs to this host or this session.
std::vector<std::string> portable_environment();

// How often a side without news gives a sign of life.
inline double beat_interval(double peer_s) {
  const double quarter = peer_s / 4;
  return quarter < 5.0 ? quarter : 5.0;
}

}  // namespace causeway::launch
