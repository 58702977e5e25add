// The end of a process whose threads have all left by pthread_exit().
#pragma once

namespace causeway {

// The C library ends a process behind its last thread (POSIX, pthread_exit()). Threads of PMIx's
// and of this library's own stay for as long as the process lives, so it would stay with them. When
// the process's first thread leaves, a quiet thread looks until no others than such are left, and
// then calls exit(0). Called by the thread that has started the runtime; nothing happens where that
// is not the first.
void end_with_last_thread();

}  // namespace causeway
