// Ending the job: gasnet_exit, and the news that somebody else called it. GASNet-1 specification
// 2.1.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

struct Peer;

// Installs SIGQUIT's default action (gasnet_exit) where the program has none of its own.
void install_exit_signals();
// Handlers of exit() run in the reverse of their order, so a library that was loaded since would
// end before this rank has left, while others may still be served with it. Called after each such
// load.
void leave_before_new_libraries();

[[noreturn]] void exit_job(int code);

// Core handler of Internal::exit: args[0] is the code.
void on_remote_exit(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// Another rank has called gasnet_exit. With a code this process leaves too, with that one: as it
// comes to its own exit, or a moment later at its next poll, by SIGQUIT. With 0 it goes on until it
// comes to its own end; who is still there after `timeouts.exit` gets SIGQUIT. Any thread.
void told_of_exit(int code);
// Every rank has come to its end. Any thread.
void on_all_leave();

// Is it time to leave as others have, for the first time since the last question?
bool asked_to_leave();
// What leave_as_asked() and SIGQUIT's default action leave with from now on.
void take_exit_code(int code);
// Does what SIGQUIT would: runs the client's handler, or ends the process where there is none.
void leave_as_asked();

// What base/fatal.h promises, in its order.
[[noreturn]] void end_for_mistake(const char* call, const std::string& text);
[[noreturn]] void end_for_lost_peer(const char* call, const std::string& text);
[[noreturn]] void end_for_unreached(const char* call, const std::string& text);
[[noreturn]] void end_for_missing(uint32_t rank, const std::string& text);
void wait_for_launcher();

}  // namespace causeway
