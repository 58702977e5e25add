// The end of polling, when the process ends by exit() or a return from main.
#pragma once

namespace causeway {

// Polls find nothing from now on. Threads of the client's may go on polling while libraries end,
// whose objects a poll would otherwise walk into.
void end_polls();

}  // namespace causeway
