// The first half of opening conduits: everything that can be wrong with what a user wrote. A start
// and `causeway check-config` do the same.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/problem.h"
#include "connection/conduit_set.h"
#include "connection/wrapping.h"
#include "loader/loader.h"

namespace causeway {

struct PreparedConduit {
  const ConduitSpec* spec;
  ConfiguredConduit configured;
};

// Loads the plugins of the conduits that `which` means, in the file's order, and configures them.
// Conduits that cannot be had here go to `failures`; all mistakes go to `problems`. Without
// `place` no device is looked for.
std::vector<PreparedConduit> prepare_conduits(const Config& config, Loader& loader,
                                              WhichConduits which,
                                              std::vector<ConduitFailure>& failures,
                                              Problems& problems, const OwnPlace* place = nullptr);

}  // namespace causeway
