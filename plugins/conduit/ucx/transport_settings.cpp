#include "transport_settings.h"

#include <cstdlib>

namespace causeway::ucx {
namespace {

std::mutex g_environment;

}  // namespace

InEnvironment::InEnvironment(const TransportSettings& settings) : alone_(g_environment) {
  for (const auto& [name, value] : settings) {
    const std::string variable = "UCX_" + name;
    const char* const old = std::getenv(variable.c_str());
    before_.emplace_back(variable, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
    setenv(variable.c_str(), value.c_str(), 1);
  }
}

InEnvironment::~InEnvironment() {
  // Backwards: the first of two settings of one name has seen what was there.
  for (auto at = before_.rbegin(); at != before_.rend(); ++at)
    if (at->second)
      setenv(at->first.c_str(), at->second->c_str(), 1);
    else
      unsetenv(at->first.c_str());
}

}  // namespace causeway::ucx
