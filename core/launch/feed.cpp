#include "launch/feed.h"
#include "spawn/pipes.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

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

Feed::Feed(UniqueFd write_end, int epoll, uint64_t tag)
    : pipe_(std::move(write_end)), watch_(epoll, tag, EPOLLOUT) {
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
}

void Feed::close() {
  watch_.set(pipe_.get(), false);
  pipe_.reset();
}

void Feed::push(std::string_view bytes) {
  waiting_.append(bytes);
}

void Feed::end() {
  ended_ = true;
  if (waiting_.empty()) close();
}

size_t Feed::pump() {
  size_t gone = 0;
  while (pipe_ && gone < waiting_.size()) {
    const ssize_t n = ::write(pipe_.get(), waiting_.data() + gone, waiting_.size() - gone);
    if (n > 0) {
      gone += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      break;
    } else {
      broken_ = true;
      close();
    }
  }
  if (!pipe_) gone = waiting_.size();
  waiting_.erase(0, gone);
  watch_.set(pipe_.get(), !waiting_.empty());
  if (ended_ && waiting_.empty()) close();
  return gone;
}

void feed_stdin(UniqueFd pipe) {
  std::thread([end = std::move(pipe)]() mutable { copy(std::move(end)); }).detach();
}

}  // namespace causeway::launch
