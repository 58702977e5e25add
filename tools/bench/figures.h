// The catalogue of what `causeway bench` measures: shared by the measuring program and by the
// command that prints the table.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spread.h"

namespace YAML {
class Node;
}
namespace causeway {
extern const char k_figures_yaml[];  // figures.yaml
}

namespace causeway::bench {

// The target of a figure; several members hold together, except that `max_extra` forgives what
// `max_ratio` blames.
struct Target {
  std::optional<double> max_ratio;  // ours / raw
  double max_extra = 0;             // or ours - raw, in the figure's unit
  std::optional<double> min_value;  // of ours
  std::optional<double> max_value;  // of ours
};

// Figures of one kind are measured by one launch of the program.
enum class Launch {
  pair,
  startup,
  memory,
  instructions,
  network,
  modes,
  threads,
  collectives,
  one_sided,
  memkinds,
  staged,
  gaspi
};

struct Figure {
  std::string name, unit;
  Launch launch;
  Target target;
  // The target speaks of a peer whose memory is mapped; on another path there is no verdict.
  bool direct_only;
  // The figure needs two ranks that run at the same time on cores of their own.
  bool needs_cores;
  std::string what;
};

std::span<const Figure> catalogue();
const Figure* find_figure(std::string_view name);

// A measured figure. `raw` is absent where there is nothing to compare with.
struct Measured {
  std::string name;
  double ours = 0;
  std::optional<double> raw;
  std::string path;  // "direct", "library": how the peer was reached; "": does not matter
  std::string note;
  Spread spread = {};                         // of ours; no runs: it was measured once
  std::map<std::string, double> beside = {};  // what others' libraries take
};

// `, "low": 1, "high": 2, "mad": 0.1, "runs": 5`, in the figure's unit: the bounds of the median,
// the median distance from it, and of how many runs. Nothing of a single one.
std::string spread_members(const Measured& measured);
Spread read_spread(const YAML::Node& figure, double ours);

// Within the target? nullopt: no target, or it does not speak of this path.
std::optional<bool> judge(const Figure& figure, const Measured& measured, bool oversubscribed);
std::string target_text(const Figure& figure);

// A measured figure as one line of text between the program and the command, and back. A line
// that is not a record gives nullopt.
std::string to_record(const Measured& measured);
std::optional<Measured> from_record(const std::string& line);

}  // namespace causeway::bench
