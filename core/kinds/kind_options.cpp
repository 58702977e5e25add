#include "kinds/kind_options.h"

namespace causeway {

KindOptions kind_options(const Config& config, const std::string& name) {
  const std::string prefix = "memkinds." + name + ".options.";
  KindOptions out;
  for (auto at = config.values.lower_bound(prefix);
       at != config.values.end() && at->first.compare(0, prefix.size(), prefix) == 0; ++at) {
    const std::string key = at->first.substr(prefix.size());
    out.values[key] = at->second;
    const auto origin = config.origins.find(at->first);
    if (origin != config.origins.end()) out.origins[key] = origin->second;
  }
  return out;
}

}  // namespace causeway
