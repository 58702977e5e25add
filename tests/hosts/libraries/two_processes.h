// Two processes that can tell each other something.
#pragma once

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "answer.h"

namespace libraries {

// Runs `body(i, socket)` in process i of two, whose sockets are joined, and waits for both. A body
// ends its process. What waitpid says of each.
template <typename Body>
std::array<int, 2> in_two_processes(Body&& body) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) give_up(2, "socketpair");
  std::array<pid_t, 2> children{};
  for (size_t i = 0; i < 2; ++i) {
    std::fflush(stdout);
    children[i] = fork();
    if (children[i] != 0) continue;
    close(sockets[1 - i]);
    body(i, sockets[i]);
    _exit(0);
  }
  close(sockets[0]);
  close(sockets[1]);
  std::array<int, 2> ended{};
  for (size_t i = 0; i < 2; ++i) waitpid(children[i], &ended[i], 0);
  return ended;
}

}  // namespace libraries
