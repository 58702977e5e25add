// The interface that leads away from this host, for conduits that are left to choose one. Networks
// of containers and virtual machines (docker0, virbr0) have the same addresses on every host and
// lead nowhere; the default route does not go over them.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace causeway {

// Of the default route with the lowest metric (IPv4); "" when there is none, as on an isolated net.
// `table`: the kernel's, or a test's.
inline std::string main_interface(const char* table = "/proc/net/route") {
  constexpr unsigned long kUp = 1;  // RTF_UP
  std::ifstream file(table);
  std::string line, best;
  unsigned long best_metric = 0;
  std::getline(file, line);  // the headings
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name, destination, gateway, flags, references, uses, metric, mask;
    if (!(words >> name >> destination >> gateway >> flags >> references >> uses >> metric >> mask))
      continue;
    const bool leads_away = std::strtoul(destination.c_str(), nullptr, 16) == 0 &&
                            std::strtoul(mask.c_str(), nullptr, 16) == 0;
    if (!leads_away || (std::strtoul(flags.c_str(), nullptr, 16) & kUp) == 0) continue;
    const unsigned long cost = std::strtoul(metric.c_str(), nullptr, 10);
    if (!best.empty() && cost >= best_metric) continue;
    best = name;
    best_metric = cost;
  }
  return best;
}

}  // namespace causeway
