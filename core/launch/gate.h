// Gate: whose connections the PMIx server library takes.
//
// The library believes the user number that a client sends, and waits, with all that it does, for
// the first message of whatever has connected. Its port is open to every user of the machine. So
// the launcher accepts in the library's place (gate.cpp defines accept() and send() of the
// process): it takes the connections of the job's own user, as the kernel tells it, once their
// first message has come whole, and closes those of others unread.
#pragma once

#include <sys/types.h>

#include <optional>

namespace causeway::launch {

// From now on, for this process. To be called before the library starts.
void guard_connections();
// To be called after the library has ended.
void stop_guarding();

// The user whose process holds the other end of a TCP connection within this host. Nothing: no
// process holds it any more, or it is not of this host.
std::optional<uid_t> peer_owner(int connection);

}  // namespace causeway::launch
