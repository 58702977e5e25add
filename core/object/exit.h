// Ending the job: gasnet_exit, and the news that somebody else called it. GASNet-1 specification
// 2.1.5.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway {

struct Peer;

// Installs SIGQUIT's default action (gasnet_exit) where the program has none of its own.
void install_exit_signals();

[[noreturn]] void exit_job(int code);

// Core handler of Internal::exit: args[0] is the code.
void on_remote_exit(Peer& from, const int32_t* args, unsigned nargs, void* payload, size_t length);

// This process leaves with `code` at its next poll, or when it waits. Any thread.
void ask_to_leave(int code);
// The launcher says that others left with status 0 and this process is still here. A job whose
// ranks may end by exit() (GASNET_CATCH_EXIT=0) goes on without those.
void on_leave_told();

// Has a remote gasnet_exit arrived since the last question?
bool asked_to_leave();
// What leave_as_asked() and SIGQUIT's default action leave with from now on.
void take_exit_code(int code);
// Does what SIGQUIT would: runs the client's handler, or ends the process where there is none.
void leave_as_asked();

// True once this process is on its way out.
bool exiting();

}  // namespace causeway
