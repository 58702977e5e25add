#include "config/own_variables.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace causeway {
namespace {

constexpr std::string_view kPrefix = "CAUSEWAY_";
constexpr std::ptrdiff_t kForUsers = 4;  // the first of the known: those that may be meant
// Behind them the launcher's for its ranks, and those by which a user's build may find us.
constexpr std::string_view kKnown[] = {
    "CONFIG", "SET", "RANKS",   "ON_DEATH", "JOB",    "SESSION_DIR", "STARTED_RANK", "DIR",
    "HOME",   "INC", "INCLUDE", "LIB",      "PREFIX", "ROOT",        "VERSION"};

}  // namespace

std::optional<Problem> unknown_variable(const std::string& variable) {
  if (!variable.starts_with(kPrefix)) return std::nullopt;
  const std::string name = variable.substr(kPrefix.size());
  if (std::ranges::find(kKnown, name) != std::end(kKnown)) return std::nullopt;
  const auto meant = did_you_mean(name, {kKnown, kKnown + kForUsers});
  const std::string hint = meant ? fmt::format("; did you mean {}{}?", kPrefix, *meant) : "";
  return Problem{{variable, 0, 0}, "Causeway has no such variable" + hint};
}

}  // namespace causeway
