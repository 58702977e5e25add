// From the merged, checked document to the typed Config.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/document.h"
#include "config/problem.h"

namespace causeway {

// Rules as far as they are understood. comparable[i] is false where validation had to drop a
// condition. Two rules of one name are a problem.
std::vector<PeerRule> build_rules(const Node& root, std::vector<bool>& comparable,
                                  Problems& problems);

// `root` has no mistakes any more: they have been dropped.
Config build_config(const Node& root, std::vector<PeerRule> rules);

}  // namespace causeway
