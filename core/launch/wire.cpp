#include "launch/wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/clock.h"
#include "launch/watch.h"

namespace causeway::launch {

std::string_view Unpacker::bytes(size_t size) {
  if (size > bytes_.size()) throw Error(CWY_ERR_INVALID, "a message is cut short");
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

Channel::Channel(UniqueFd socket, Cipher::Side side, const Key* secret)
    : socket_(std::move(socket)), heard_at_(now_s()), sent_at_(now_s()) {
  const int yes = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (secret != nullptr) cipher_ = std::make_unique<Cipher>(side, *secret);
  write_out();
}

void Channel::attend(int epoll, uint64_t tag) {
  epoll_ = epoll;
  tag_ = tag;
  watch_readable(epoll_, socket_.get(), tag_);
  watch();
}

bool Channel::wait(double until) const {
  return wait_readable(socket_.get(), until);
}

void Channel::watch() {
  const bool wanted = out_at_ < outgoing_.size();
  if (wanted == wants_out_ || !socket_ || epoll_ < 0) return;
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
  std::string frame(reinterpret_cast<const char*>(head), sizeof head);
  frame.append(body);
  cipher_ ? cipher_->put(frame) : void(outgoing_.append(frame));
  sent_at_ = now_s();
  write_out();
}

void Channel::write_out() {
  if (cipher_) outgoing_.append(cipher_->to_send());
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

void Channel::read_in() {
  // Bounded, so that one busy host does not keep the others waiting.
  for (size_t budget = 4 << 20; socket_ && budget > 0;) {
    char chunk[64 << 10];
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0) {
      const std::string_view came(chunk, static_cast<size_t>(n));
      try {
        cipher_ ? cipher_->take(came, incoming_) : void(incoming_.append(came));
      } catch (const Error& e) {
        write_out();  // the other side hears of it
        return fail(e.text());
      }
      heard_at_ = now_s();
      budget -= std::min(budget, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    fail(n == 0 ? "the connection was closed" : std::strerror(errno));
  }
}

std::vector<Frame> Channel::pump(size_t most) {
  std::vector<Frame> frames;
  read_in();
  write_out();  // for what has waited, or answers what was read
  size_t at = 0;
  uint32_t head[2];
  while (frames.size() < most && incoming_.size() - at >= sizeof head) {
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
