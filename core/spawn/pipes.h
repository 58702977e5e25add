// Pairs of connected descriptors, closed in programs that are executed, and the words of such a
// program.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace causeway {

struct Pipe {
  UniqueFd read_end, write_end;
};
Pipe make_pipe();  // throws Error

struct SocketPair {
  UniqueFd mine, theirs;
};
SocketPair make_sockets();  // throws Error

// False when nobody reads the other end any more. SIGPIPE is the caller's to ignore.
bool write_fully(int fd, const void* from, size_t size);

// As execv() takes them; they point into `words`.
std::vector<char*> pointers_to(const std::vector<std::string>& words);

// Variables of an outer launcher would make PMIx's library take this process for one of its own.
void drop_outer_pmix_variables();

}  // namespace causeway
