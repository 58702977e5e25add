#include "launch/stdin_feed.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "spawn/pipes.h"

namespace causeway::launch {
namespace {

// False when nobody reads the pipe any more: what is still on stdin then belongs to somebody else.
bool wait_for_input(int pipe) {
  pollfd watched[2] = {{STDIN_FILENO, POLLIN, 0}, {pipe, 0, 0}};
  while (::poll(watched, 2, -1) < 0)
    if (errno != EINTR) return true;
  return (watched[1].revents & (POLLERR | POLLHUP)) == 0;
}

void copy(UniqueFd pipe) {
  char chunk[64 << 10];
  while (wait_for_input(pipe.get())) {
    const ssize_t n = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || (errno == EIO && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()))) {
      // In the background of its terminal, where reading is refused for now.
      ::usleep(200'000);
      continue;
    }
    if (n <= 0 || !write_fully(pipe.get(), chunk, static_cast<size_t>(n))) return;
  }
}

}  // namespace

void feed_stdin(UniqueFd pipe) {
  std::thread([end = std::move(pipe)]() mutable { copy(std::move(end)); }).detach();
}

}  // namespace causeway::launch
