// The means by which users look at a process: questions, GASNET_FREEZE*, GASNET_BACKTRACE*, and
// signals that they want for themselves (GASNET_NO_CATCH_SIGNAL).
#pragma once

namespace causeway {

// May this process install a handler for `signal`?
bool may_catch(int signal);

// At the start of the first client: installs GASNET_FREEZE_SIGNAL and GASNET_BACKTRACE_SIGNAL, and
// with GASNET_FREEZE waits for a debugger.
void prepare_stops();

// `kill -URG PID` has the process say what its threads wait for, from then on, where the program
// has no handler of its own for SIGURG and lets this library have one. SIGURG ends nobody.
void listen_for_questions();

// When an error ends the process: a backtrace and a stop, if asked for.
void stop_on_error();

}  // namespace causeway
