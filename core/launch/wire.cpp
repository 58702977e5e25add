#include "launch/wire.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"
#include "launch/clock.h"
#include "launch/watch.h"

namespace causeway::launch {

std::string_view Unpacker::bytes(size_t size) {
  if (size > bytes_.size()) throw Error(CWY_ERR_INVALID, "a message is cut short");
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

Channel::Channel(UniqueFd socket, int epoll, uint64_t tag)
    : socket_(std::move(socket)), epoll_(epoll), tag_(tag), heard_at_(now_s()), sent_at_(now_s()) {
  watch_readable(epoll_, socket_.get(), tag_);
}

void Channel::watch() {
  const bool wanted = out_at_ < outgoing_.size();
  if (wanted == wants_out_ || !socket_) return;
  wants_out_ = wanted;
  epoll_event event{};
  event.events = EPOLLIN | (wanted ? EPOLLOUT : 0u);
  event.data.u64 = tag_;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket_.get(), &event);
}

void Channel::close() {
  if (socket_) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket_.get(), nullptr);
  socket_.reset();
}

void Channel::fail(const std::string& why) {
  if (why_.empty()) why_ = why;
  close();
}

void Channel::send(Word word, std::string_view body) {
  if (!socket_) return;
  const uint32_t head[2] = {static_cast<uint32_t>(body.size()), static_cast<uint32_t>(word)};
  outgoing_.append(reinterpret_cast<const char*>(head), sizeof head);
  outgoing_.append(body);
  sent_at_ = now_s();
  write_out();
}

void Channel::write_out() {
  while (socket_ && out_at_ < outgoing_.size()) {
    const ssize_t n = ::send(socket_.get(), outgoing_.data() + out_at_, outgoing_.size() - out_at_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      out_at_ += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    return fail(std::strerror(errno));
  }
  if (out_at_ == outgoing_.size() || out_at_ > (1u << 20)) {
    outgoing_.erase(0, out_at_);
    out_at_ = 0;
  }
  watch();
}

std::vector<Frame> Channel::pump() {
  std::vector<Frame> frames;
  write_out();
  // Bounded, so that one busy host does not keep the others waiting.
  for (size_t budget = 4 << 20; socket_ && budget > 0;) {
    char chunk[64 << 10];
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0) {
      incoming_.append(chunk, static_cast<size_t>(n));
      heard_at_ = now_s();
      budget -= std::min(budget, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    fail(n == 0 ? "the connection was closed" : std::strerror(errno));
  }
  size_t at = 0;
  uint32_t head[2];
  while (incoming_.size() - at >= sizeof head) {
    std::memcpy(head, incoming_.data() + at, sizeof head);
    if (head[0] > kLongestFrame)
      throw Error(CWY_ERR_INVALID, "a message of {} bytes was announced", head[0]);
    if (incoming_.size() - at - sizeof head < head[0]) break;
    frames.push_back({static_cast<Word>(head[1]), incoming_.substr(at + sizeof head, head[0])});
    at += sizeof head + head[0];
  }
  incoming_.erase(0, at);
  return frames;
}

void Channel::drain(double until) {
  while (socket_ && out_at_ < outgoing_.size() && now_s() < until) {
    pollfd ready{socket_.get(), POLLOUT, 0};
    ::poll(&ready, 1, ms_until(until));
    write_out();
  }
}

}  // namespace causeway::launch
