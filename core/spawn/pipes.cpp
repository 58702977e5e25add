#include "spawn/pipes.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/error.h"
#include "spawn/limits.h"

namespace causeway {

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(CWY_ERR_NOMEM, "cannot create a pipe: {}", shortage(errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

SocketPair make_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(CWY_ERR_NOMEM, "cannot create a socket: {}", shortage(errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool write_fully(int fd, const void* from, size_t size) {
  const char* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void drop_outer_pmix_variables() {
  char** end = environ;
  while (*end != nullptr) ++end;
  *std::remove_if(environ, end, [](const std::string_view entry) {
    return entry.starts_with("PMIX_") && !entry.starts_with("PMIX_MCA_");
  }) = nullptr;
}

}  // namespace causeway
