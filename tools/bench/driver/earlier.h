// An earlier run of `causeway bench`, out of the file that its --json wrote.
#pragma once

#include <map>
#include <string>

#include "../figures.h"

namespace causeway::bench {

using Earlier = std::map<std::string, Measured>;  // by the figure's name

// Throws std::runtime_error where the file cannot be read or holds no figures.
Earlier read_earlier(const std::string& file);

// By which part of what it was the figure has become larger; negative: smaller.
inline double change(const Measured& now, const Measured& before) {
  return before.ours == 0 ? 0 : now.ours / before.ours - 1;
}

// Do the bounds of both medians overlap? A run that says none counts with its figure alone.
inline bool is_same(const Measured& now, const Measured& before) {
  return now.ours * now.spread.low <= before.ours * before.spread.high &&
         before.ours * before.spread.low <= now.ours * now.spread.high;
}

}  // namespace causeway::bench
