#include "launch/feed.h"

#include <fcntl.h>

#include <cerrno>

namespace causeway::launch {

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

}  // namespace causeway::launch
