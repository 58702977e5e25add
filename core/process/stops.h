// The means by which users look at a process: GASNET_FREEZE*, GASNET_BACKTRACE*, and signals that
// they want for themselves (GASNET_NO_CATCH_SIGNAL).
#pragma once

namespace causeway {

// May this process install a handler for `signal`?
bool may_catch(int signal);

// At the start of the first client: installs GASNET_FREEZE_SIGNAL and GASNET_BACKTRACE_SIGNAL, and
// with GASNET_FREEZE waits for a debugger.
void prepare_stops();

// When an error ends the process: a backtrace and a stop, if asked for.
void stop_on_error();

}  // namespace causeway
