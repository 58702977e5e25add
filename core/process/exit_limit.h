// The end of a process that does not get out of gasnet_exit.
#pragma once

namespace causeway {

// From now on the process has so many seconds before it ends with `code` as it stands, with a line
// on stderr. gasnet_exit may be called in a signal's handler (GASNet-1 specification 2.1.5), and
// what that interrupted may hold a lock of the C library which the goodbye needs. Calls nothing but
// what POSIX allows in a handler; takes SIGALRM and the alarm away from the program, which is
// leaving. Any thread.
//
// SIGABRT ends it with `code` too: a library's own farewell may abort (UCX 1.13's does where a peer
// goes while they introduce themselves), and what the process had to say it has said.
void limit_exit(int code, unsigned seconds);
// The program goes on: its own handlers of exit() have as long as they like, and may abort.
void unlimit_exit();

}  // namespace causeway
