// Between its last word and its end a rank goes on answering those that are not as far, so that
// nobody misses what it has sent or still owes.
#pragma once

#include <cstdint>

namespace causeway {

// Polls until every rank has come to its end (end_lingering), at most for so long. In a handler
// of messages only replies are looked at, and where a signal may have interrupted a conduit nothing
// is (interrupted.h). One thread, once.
void linger(uint64_t patience_ns);

// Nobody needs this rank any more, or nobody may wait for it. Any thread, a signal handler too.
void end_lingering();

}  // namespace causeway
