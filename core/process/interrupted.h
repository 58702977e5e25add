// Handlers of signals, in which a client may call gasnet_exit: the thread may have been inside of a
// conduit, whose state and locks it still holds.
#pragma once

namespace causeway {

// Signals that are blocked by now are so by the program's wish, and no handler's.
void note_usual_signals();

// False where a handler of a signal runs, whose signal may have found this thread inside of a
// conduit: nothing of a conduit's may be called then. Libraries of networks fail or hang otherwise.
// May be called in a handler.
bool may_enter_conduits();

}  // namespace causeway
