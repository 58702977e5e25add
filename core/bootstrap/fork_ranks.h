// A program that starts its own ranks (CAUSEWAY_RANKS=N): they are forks of it, and it becomes
// their launcher by executing the command `causeway`.
#pragma once

#include <cstdint>

namespace causeway {

// A process with more than one thread may not fork ranks: the others would be missing in them.
bool may_fork_ranks();

// Returns in each of the ranks, with the environment set so that a PMIx server is found. The
// calling process ends as the launcher, with the job's status. Throws Error there while it can go
// on as before. The times are timeouts.exit and timeouts.kill.
void fork_ranks(uint32_t ranks, double exit_grace_s, double kill_grace_s);

}  // namespace causeway
