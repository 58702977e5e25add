// The figures that a measuring program is asked for, and the way it tells of each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../figures.h"
#include "options/options.h"

namespace causeway::bench {

struct Wanted {
  bool quick = false;
  std::vector<std::string> only;  // figures; none: all

  void add_options(Options& app) {
    app.option("--only", only, "Figures by name").commas();
    app.flag("--quick", quick, "Few and short repetitions");
  }
  bool has(std::string_view name) const {
    return only.empty() || std::ranges::find(only, name) != only.end();
  }
};

inline void print_record(const Measured& measured) {
  fmt::print("{}\n", to_record(measured));
  std::fflush(stdout);
}

}  // namespace causeway::bench
