#include "earlier.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <stdexcept>

#include "base/regular_file.h"

namespace causeway::bench {

Earlier read_earlier(const std::string& file) {
  Earlier out;
  constexpr size_t kMost = 64 << 20;
  std::string why;
  const std::optional<std::string> text = read_regular_file(file, kMost, why);
  if (!text) throw std::runtime_error(fmt::format("{}: {}", file, why));
  try {
    for (const YAML::Node& node : YAML::Load(*text)["figures"]) {  // JSON is YAML
      Measured one;
      one.name = node["name"].as<std::string>();
      one.ours = node["ours"].as<double>();
      if (!node["raw"].IsNull()) one.raw = node["raw"].as<double>();
      one.spread = read_spread(node, one.ours);
      out[one.name] = one;
    }
  } catch (const YAML::Exception&) {
    out.clear();
  }
  if (out.empty())
    throw std::runtime_error(
        fmt::format("'{}' is no report of `causeway bench --json` on figures or sweeps", file));
  return out;
}

}  // namespace causeway::bench
