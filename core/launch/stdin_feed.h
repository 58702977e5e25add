// Passes the launcher's stdin on to one rank.
#pragma once

#include "base/unique_fd.h"

namespace causeway::launch {

// Starts a thread that copies stdin into `pipe` until end of file, which it passes on, or until
// nobody reads the pipe. The thread ends with the process.
void feed_stdin(UniqueFd pipe);

}  // namespace causeway::launch
