#include "launch/feed.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>

namespace causeway::launch {

Feed::Feed(UniqueFd write_end, int epoll, uint64_t tag)
    : pipe_(std::move(write_end)), epoll_(epoll), tag_(tag) {
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
}

void Feed::watch(bool wanted) {
  if (wanted == watched_ || !pipe_) return;
  epoll_event event{};
  event.events = EPOLLOUT;
  event.data.u64 = tag_;
  ::epoll_ctl(epoll_, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, pipe_.get(), &event);
  watched_ = wanted;
}

void Feed::close() {
  watch(false);
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
  watch(!waiting_.empty());
  if (ended_ && waiting_.empty()) close();
  return gone;
}

}  // namespace causeway::launch
