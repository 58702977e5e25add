// Exit of a process, and the end of the job (GASNet-1 specification 2.1.5). A rank *exits* when its
// program calls gasnet_exit() or exit(), or returns from main. To *leave* is everything from there
// to the goodbye to the launcher. The job *ends* when every rank has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

struct Peer;

// Installs SIGQUIT's default action (gasnet_exit) where the program has none of its own.
void install_exit_signals();
// Handlers of exit() run in the reverse of their order, so a library that was loaded since would
// end before this rank has left, while other ranks may still be served with it. Called after each
// load of such a library.
void leave_before_new_libraries();

[[noreturn]] void exit_job(int code);

// Core handler of Internal::exit: args[0] is the code.
void on_remote_exit(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// Another rank has called gasnet_exit. With a code other than 0 this process leaves with that code
// too: as it comes to its own exit, or a moment later at its next poll, by SIGQUIT. With 0 it goes
// on until its own exit; a process that is still there after `timeouts.exit` gets SIGQUIT. Any
// thread.
void told_of_exit(int code);
// Is it time to leave as others have, for the first time since the last call?
bool asked_to_leave();
// Does what SIGQUIT would do: runs the client's handler, or ends the process where there is none.
void leave_as_asked();

// The ends that base/fatal.h promises, in its order.
[[noreturn]] void end_for_mistake(const char* call, const std::string& text);
[[noreturn]] void end_for_lost_peer(const char* call, const std::string& text);
[[noreturn]] void end_for_unreached(const char* call, const std::string& text);
[[noreturn]] void end_for_missing(uint32_t rank, const std::string& text);
void wait_for_launcher();

}  // namespace causeway
