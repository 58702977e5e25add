#include "config/own_variables.h"

#include <unistd.h>

#include <algorithm>

namespace causeway {
namespace {

const std::string kPrefix = "CAUSEWAY_";
constexpr std::ptrdiff_t kForUsers = 4;  // the first of the known: those that may be meant
// Behind them the launcher's for its ranks, and those by which a user's build may find us.
const std::vector<std::string> kKnown = {
    "CONFIG", "SET", "RANKS",   "ON_DEATH", "JOB",    "SESSION_DIR", "STARTED_RANK", "DIR",
    "HOME",   "INC", "INCLUDE", "LIB",      "PREFIX", "ROOT",        "VERSION"};

}  // namespace

std::vector<std::string> own_variables() {
  std::vector<std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with(kPrefix)) found.push_back(text.substr(0, text.find('=')));
  }
  return found;
}

std::optional<Problem> check_variable(const std::string& variable) {
  if (!variable.starts_with(kPrefix)) return std::nullopt;
  const std::string name = variable.substr(kPrefix.size());
  if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end()) return std::nullopt;
  const auto meant = did_you_mean(name, {kKnown.begin(), kKnown.begin() + kForUsers});
  const std::string hint = meant ? "; did you mean " + kPrefix + *meant + "?" : "";
  return Problem{{variable, 0, 0}, "Causeway has no such variable" + hint};
}

}  // namespace causeway
