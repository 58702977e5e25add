// The `segment:` block of the configuration speaks to every conduit that allocates segments: it
// becomes the plugin's own options of the same names, where the plugin has them and the conduit's
// `options:` do not say otherwise.
#pragma once

#include <map>
#include <string>

#include "config/config.h"
#include "loader/loader.h"

namespace causeway {

// `spec.options` and what `segment:` adds to them.
std::map<std::string, std::string> options_with_segment(const Config& config,
                                                        const ConduitSpec& spec,
                                                        const Manifest& manifest);

}  // namespace causeway
