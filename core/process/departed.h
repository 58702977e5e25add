// Ranks that have left in good order while this one goes on: with gasnet_exit(0), or by the return
// of their main. They are not missed, except by what needs them.
#pragma once

#include <cstdint>
#include <string>

namespace causeway {

// Known from now on, and closed to the client's requests: one that is sent all the same ends this
// process with a line that names both ranks. Any thread.
void note_departed(uint32_t rank);

// "; rank 3 has left the job", for messages about a rank that cannot be reached; else "".
std::string departed_words(uint32_t rank);
// The same of all that have left.
std::string departed_words();

// Ends this process where it has stood still for `timeouts.exit` because of a rank that has left:
// it waits for an answer of that rank, or for that member of a collective that the living have all
// begun (collective/inquiry.h). From polls, a few times in a second.
void look_at_departed();

}  // namespace causeway
