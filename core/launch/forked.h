// The launcher of a program that has forked its own ranks (CAUSEWAY_RANKS=N): what the two
// processes that execute `causeway` for it do there.
#pragma once

#include "spawn/handover.h"

namespace causeway::launch {

// In the process that the user started; the job's status.
int run_launcher(Handover handover);

// In its child, whose children the ranks are.
[[noreturn]] void run_keeper(Handover handover);

}  // namespace causeway::launch
