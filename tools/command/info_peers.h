// The part of `causeway info` that needs a job.
#pragma once

#include "commands.h"

namespace causeway::command {

// On every rank of a job; rank 0 prints. Returns only where there is no job.
int info_peers(bool json);

}  // namespace causeway::command
