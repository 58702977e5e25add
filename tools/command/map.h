// The answer of `causeway map`, and its forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace causeway::command {

// The ways from one host to another: one, or several where rules tell ranks apart. None: there is
// nobody but the rank itself.
using Cell = std::set<std::string>;

struct Map {
  std::vector<std::string> hosts;        // different names
  std::vector<uint32_t> ranks;           // by host
  std::vector<size_t> neighborhoods;     // by host
  std::vector<std::vector<Cell>> cells;  // from, to

  void add_host(const std::string& name) {
    hosts.push_back(name);
    ranks.push_back(0);
    neighborhoods.push_back(0);
    for (auto& row : cells) row.resize(hosts.size());
    cells.emplace_back(hosts.size());
  }
};

// Each prints to stdout.
void print_map(const Map& map);
void print_map_json(const Map& map);
// Throws Error where there are more hosts than a picture can show.
void print_map_svg(const Map& map);
void print_map_dot(const Map& map);

}  // namespace causeway::command
