// The part of `causeway info` that asks conduits for their devices.
#pragma once

#include "commands.h"
#include "config/config.h"

namespace causeway::command {

// Of each conduit that is configured or installed.
int info_devices(const Config& config, bool json);

}  // namespace causeway::command
