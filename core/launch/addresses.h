// The launcher's addresses, as relays on other hosts are told them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace causeway::launch {

// A listening, non-blocking TCP socket on a port that the system picks, on all interfaces or on
// `only`, a numeric address. Throws Error.
std::pair<UniqueFd, uint16_t> open_listener(const std::string& only);

// Numeric addresses of this machine's interfaces that are up, loopback last; or `only`.
std::vector<std::string> own_addresses(const std::string& only);

// A connected socket, blocking. Throws Error after `limit_s`.
UniqueFd connect_to(const std::string& address, uint16_t port, double limit_s);

// False when `until` has come.
bool wait_readable(int fd, double until);

// So many bytes. Throws Error with the text `late` at `until`, and `closed` where no more come.
std::string receive(int socket, size_t size, double until, const char* late, const char* closed);

}  // namespace causeway::launch
