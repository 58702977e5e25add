// The forms of a map: hosts of equal ways drawn together for people, JSON, SVG and Graphviz.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/error.h"
#include "map.h"
#include "svg_matrix.h"
#include "text.h"

namespace causeway::command {
namespace {

// Numbers of at least so many digits.
std::string ranges(std::vector<uint64_t> n, size_t digits) {
  std::sort(n.begin(), n.end());
  n.erase(std::unique(n.begin(), n.end()), n.end());
  std::string out;
  for (size_t i = 0; i < n.size();) {
    size_t last = i;
    while (last + 1 < n.size() && n[last + 1] == n[last] + 1) ++last;
    out += fmt::format("{}{:0{}}", out.empty() ? "" : ",", n[i], digits);
    if (last != i) out += fmt::format("-{:0{}}", n[last], digits);
    i = last + 1;
  }
  return n.size() == 1 ? out : "[" + out + "]";
}

// Names that differ in their last number only are drawn together, as schedulers write them.
std::string host_list(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());  // padded numbers come first
  constexpr size_t kMostDigits = 18;      // of a number that fits
  // The numbers of hosts, by the text before them and their digits; 0: the name has no number.
  std::map<std::pair<std::string, size_t>, std::vector<uint64_t>> groups;
  for (const std::string& name : names) {
    const size_t text = name.find_last_not_of("0123456789") + 1;
    const size_t length = name.size() - text;
    if (length == 0 || length > kMostDigits) {
      groups[{name, 0}];
      continue;
    }
    // "node7" and "node12" are one group; "node07" goes with "node12" too, but not with "node7".
    const bool padded = name[text] == '0' && length > 1;
    const std::string prefix = name.substr(0, text);
    const size_t digits = padded || groups.count({prefix, length}) != 0 ? length : 1;
    groups[{prefix, digits}].push_back(std::strtoull(name.c_str() + text, nullptr, 10));
  }
  std::string out;
  for (const auto& [name, numbers] : groups)
    out += (out.empty() ? "" : ", ") + name.first +
           (name.second == 0 ? "" : ranges(numbers, name.second));
  return out;
}

// The hosts to which one set of ways leads.
using Targets = std::map<Cell, std::vector<size_t>>;

Targets targets_of(const Map& map, size_t from) {
  Targets out;
  for (size_t to = 0; to < map.hosts.size(); ++to)
    if (!map.cells[from][to].empty()) out[map.cells[from][to]].push_back(to);
  return out;
}

std::vector<size_t> with(std::vector<size_t> hosts, size_t host) {
  hosts.insert(std::ranges::upper_bound(hosts, host), host);
  return hosts;
}

std::string names_of(const Map& map, const std::vector<size_t>& hosts) {
  std::vector<std::string> names;
  for (const size_t host : hosts) names.push_back(map.hosts[host]);
  return host_list(std::move(names));
}

constexpr const char* kItself = "itself";

// Such hosts as seen from one of them or from elsewhere, in words that are the same for as many
// hosts as can be.
std::string relation(const Map& map, const std::vector<Targets>& targets, size_t from,
                     const Cell& cell, const std::vector<size_t>& to) {
  const size_t count = map.hosts.size();
  if (to == std::vector<size_t>{from} && count > 1) return kItself;
  if (to.size() == count) return count == 1 ? kItself : "every host";
  if (std::ranges::binary_search(to, from)) return names_of(map, to);
  if (to.size() + 1 == count) return count == 2 ? "the other" : "every other host";
  const std::vector<size_t> all = with(to, from);
  const auto back = targets[to.front()].find(cell);
  const bool mutual = back != targets[to.front()].end() && with(back->second, to.front()) == all;
  return mutual ? "the others of " + names_of(map, all) : names_of(map, to);
}

std::string cell_text(const Cell& cell) {
  return fmt::format("{}", fmt::join(cell, ", or "));
}

// Hosts of which the same is to be said: the lines about one of them, and all of them.
template <typename Said>
class Groups {
 public:
  void add(Said said, size_t host) {
    const auto at =
        std::ranges::find_if(groups_, [&](const auto& group) { return group.first == said; });
    if (at == groups_.end())
      groups_.push_back({std::move(said), {host}});
    else
      at->second.push_back(host);
  }
  const auto& all() const { return groups_; }

 private:
  std::vector<std::pair<Said, std::vector<size_t>>> groups_;
};

void print_sizes(const Map& map) {
  Groups<std::pair<uint32_t, size_t>> groups;
  for (size_t h = 0; h < map.hosts.size(); ++h) groups.add({map.ranks[h], map.neighborhoods[h]}, h);
  std::vector<std::vector<std::string>> rows{{"hosts", "ranks of each", "neighborhoods of each"}};
  for (const auto& [said, hosts] : groups.all())
    rows.push_back({names_of(map, hosts), std::to_string(said.first), std::to_string(said.second)});
  print_columns(rows);
}

// A colour for each set of ways, in the order in which they come.
class Colours {
 public:
  const char* of(const Cell& cell) {
    const auto [at, fresh] = known_.emplace(cell, known_.size());
    if (fresh) cells_.push_back(&at->first);
    const bool none = std::ranges::any_of(
        cell, [](const std::string& way) { return way.rfind("unreachable", 0) == 0; });
    return none ? "#d62728" : kPalette[at->second % std::size(kPalette)];
  }
  const std::vector<const Cell*>& cells() const { return cells_; }

 private:
  std::map<Cell, size_t> known_;
  std::vector<const Cell*> cells_;
};

std::string dot_text(const std::string& text) {
  std::string out = "\"";
  for (const std::string& line : folded(text, 40)) {
    if (out.size() > 1) out += "\\n";
    for (const char c : in_characters(line))
      out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return out + '"';
}

}  // namespace

void print_map(const Map& map) {
  print_sizes(map);
  std::vector<Targets> targets;
  for (size_t from = 0; from < map.hosts.size(); ++from) targets.push_back(targets_of(map, from));
  Groups<std::vector<std::pair<std::string, std::string>>> groups;
  for (size_t from = 0; from < map.hosts.size(); ++from) {
    std::vector<std::pair<std::string, std::string>> said;
    for (const auto& [cell, to] : targets[from])
      said.emplace_back(relation(map, targets, from, cell, to), cell_text(cell));
    std::stable_partition(said.begin(), said.end(),
                          [](const auto& line) { return line.first == kItself; });
    groups.add(std::move(said), from);
  }
  std::vector<std::vector<std::string>> rows{{"from", "to", "through"}};
  for (const auto& [said, hosts] : groups.all()) {
    std::string from = names_of(map, hosts);
    for (const auto& [to, through] : said) rows.push_back({std::exchange(from, ""), to, through});
  }
  fmt::print("\n");
  print_columns(rows);
}

void print_map_json(const Map& map) {
  std::vector<std::string> out;
  for (size_t from = 0; from < map.hosts.size(); ++from) {
    for (size_t to = 0; to < map.hosts.size(); ++to) {
      const std::string inside = from == to ? fmt::format(R"(,"ranks":{},"neighborhoods":{})",
                                                          map.ranks[from], map.neighborhoods[from])
                                            : "";
      out.push_back(fmt::format(R"({{"from":{},"to":{},"ways":{}{}}})", json_text(map.hosts[from]),
                                json_text(map.hosts[to]), json_each(map.cells[from][to], json_text),
                                inside));
    }
  }
  fmt::print("{}\n", json_array(out));
}

void print_map_svg(const Map& map) {
  constexpr size_t kMost = 128;
  if (map.hosts.size() > kMost)
    throw Error(CWY_ERR_INVALID, "--svg shows at most {} hosts, not {}; --json has no limit", kMost,
                map.hosts.size());
  Colours colours;
  SvgMatrix picture;
  picture.labels = map.hosts;
  picture.square = [&](size_t from, size_t to) -> SvgSquare {
    const Cell& cell = map.cells[from][to];
    if (cell.empty()) return {};
    return {colours.of(cell),
            fmt::format("{} to {}: {}", map.hosts[from], map.hosts[to], cell_text(cell))};
  };
  picture.legend = [&] {
    std::vector<SvgSquare> out;
    for (const Cell* cell : colours.cells()) out.push_back({colours.of(*cell), cell_text(*cell)});
    return out;
  };
  fmt::print("{}", svg_matrix(picture));
}

void print_map_dot(const Map& map) {
  std::string out = "digraph causeway {\n  node [shape=box];\n";
  for (size_t h = 0; h < map.hosts.size(); ++h)
    out += fmt::format("  n{} [label={}];\n", h,
                       dot_text(fmt::format("{}, {} rank{}", map.hosts[h], map.ranks[h],
                                            map.ranks[h] == 1 ? "" : "s")));
  for (size_t from = 0; from < map.hosts.size(); ++from) {
    for (size_t to = 0; to < map.hosts.size(); ++to) {
      const Cell& cell = map.cells[from][to];
      const bool both = from != to && map.cells[to][from] == cell;
      if (cell.empty() || (both && to < from)) continue;
      out += fmt::format("  n{} -> n{} [label={}{}];\n", from, to, dot_text(cell_text(cell)),
                         both ? ", dir=both" : "");
    }
  }
  fmt::print("{}}}\n", out);
}

}  // namespace causeway::command
