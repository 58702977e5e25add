// A rank that hangs can be asked: `kill -URG PID` has a process say what its threads wait for.
#pragma once

namespace causeway {

// At the start of the first client, where the program has no handler of its own for SIGURG and lets
// this library have one (may_catch). Whoever does not listen is not harmed: SIGURG ends nobody.
void listen_for_questions();

}  // namespace causeway
