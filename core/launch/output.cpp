#include "launch/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launch/clock.h"

namespace causeway::launch {

Sink::Sink(int fd, int wake_fd) : fd_(fd), wake_fd_(wake_fd), writer_([this] { write_all(); }) {}

Sink::~Sink() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  writer_.join();
}

void Sink::push(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (error_ != 0) return;
  pending_.append(text);
  if (pending_.size() + in_flight_ >= kSinkHigh) was_congested_ = true;
  changed_.notify_all();
}

bool Sink::congested() {
  const std::lock_guard lock(mutex_);
  return error_ == 0 && was_congested_;
}

int Sink::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Sink::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return error_ != 0 || !was_congested_; });
}

void Sink::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return error_ != 0 || (pending_.empty() && in_flight_ == 0); });
}

void Sink::write_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !pending_.empty(); });
    if (pending_.empty()) return;
    std::string batch;
    batch.swap(pending_);
    size_t done = 0;
    while (done < batch.size() && error_ == 0) {
      in_flight_ = batch.size() - done;
      lock.unlock();
      const ssize_t n = ::write(fd_, batch.data() + done, batch.size() - done);
      const int failure = n < 0 ? errno : 0;
      if (failure == EAGAIN) {  // somebody else made the shared description non-blocking
        pollfd ready{fd_, POLLOUT, 0};
        ::poll(&ready, 1, 1000);
      }
      lock.lock();
      if (n > 0) done += static_cast<size_t>(n);
      if (failure != 0 && failure != EINTR && failure != EAGAIN) {
        error_ = failure;
        pending_.clear();
        wake(wake_fd_);
      }
    }
    in_flight_ = 0;
    if (was_congested_ && pending_.size() <= kSinkLow) {
      was_congested_ = false;
      wake(wake_fd_);
    }
    changed_.notify_all();
  }
}

Output::Output(Options options, int epoll_fd, uint64_t epoll_tag, int wake_fd)
    : options_(std::move(options)), epoll_fd_(epoll_fd), epoll_tag_(epoll_tag) {
  lanes_[0] = std::make_unique<Lane>(STDOUT_FILENO, wake_fd);
  lanes_[1] = std::make_unique<Lane>(options_.stderr_fd, wake_fd);
}

void Output::retag(const std::string& from, const std::string& to) {
  for (Source& source : sources_)
    if (source.tag == from) source.tag = to;
}

void Output::add(std::string tag, int stream, UniqueFd read_end) {
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  Source source{std::move(tag), stream, std::move(read_end), "",
                Watch(epoll_fd_, epoll_tag_ | sources_.size(), EPOLLIN)};
  source.watch.set(source.fd.get(), true);
  sources_.push_back(std::move(source));
}

void Output::update_polling(uint32_t index) {
  Source& source = sources_[index];
  Lane& lane = lane_of(source);
  const bool held_up = lane.owner >= 0 && lane.owner != static_cast<int>(index);
  if (held_up && !source.buffer.empty()) lane.others_wait = true;
  const bool wanted = !lane.sink.congested() && !(held_up && source.buffer.size() >= kLongLine);
  source.watch.set(source.fd.get(), wanted);
}

// Returns false at the end of the pipe or when nothing is there now.
bool Output::read_some(uint32_t index) {
  Source& source = sources_[index];
  if (!source.fd) return false;
  char chunk[kLongLine];
  const ssize_t n = ::read(source.fd.get(), chunk, sizeof chunk);
  if (n > 0) {
    source.buffer.append(chunk, static_cast<size_t>(n));
    take(index);
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  finish_source(index);
  return false;
}

void Output::readable(uint32_t index) {
  read_some(index);
  update_polling(index);
}

// The whole buffer goes to the file of the source's tag. False: there are no files.
bool Output::to_file(Source& source) {
  if (options_.directory.empty() || !source.is_rank()) return false;
  std::string tag = source.tag;
  std::ranges::replace(tag, ' ', '.');
  const std::string name = fmt::format("{}/rank.{}.{}", options_.directory, tag,
                                       source.stream == STDOUT_FILENO ? "out" : "err");
  const auto [at, is_new] = files_.try_emplace(name);
  UniqueFd& file = at->second;
  const auto give_up = [&] {
    say(fmt::format("causeway run: cannot write {}: {}; the rest of this output is lost", name,
                    std::strerror(errno)));
    file.reset();
    lost_files_ = true;
  };
  if (is_new) {
    file = UniqueFd(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) give_up();
  }
  for (size_t done = 0; file && done < source.buffer.size();) {
    const ssize_t n = ::write(file.get(), source.buffer.data() + done, source.buffer.size() - done);
    if (n > 0) done += static_cast<size_t>(n);
    if (n < 0 && errno != EINTR) give_up();
  }
  source.buffer.clear();
  return true;
}

// Passes on what may be passed on of the source's buffer.
void Output::take(uint32_t index) {
  Source& source = sources_[index];
  if (to_file(source)) return;
  Lane& lane = lane_of(source);
  if (lane.owner >= 0 && lane.owner != static_cast<int>(index)) return;
  const size_t end = source.buffer.rfind('\n');
  size_t whole = end == std::string::npos ? 0 : end + 1;
  if (options_.raw) whole = source.buffer.size();
  const bool long_line = source.buffer.size() - whole >= kLongLine;
  // An owner that is still within its first line goes on in pieces.
  const bool still_inside = source.mid_line && whole == 0;
  if (long_line || still_inside) {
    emit(index, source.buffer);
    source.buffer.clear();
    source.mid_line = true;
    lane.owner = static_cast<int>(index);
    lane.owner_spoke = now_s();
    return;
  }
  if (whole == 0) return;
  emit(index, std::string_view(source.buffer).substr(0, whole));
  source.buffer.erase(0, whole);
  source.mid_line = false;
  if (lane.owner == static_cast<int>(index)) release(lane);
}

void Output::emit(uint32_t index, std::string_view text) {
  Source& source = sources_[index];
  Lane& lane = lane_of(source);
  if (text.empty()) return;
  std::string out;
  const int self = static_cast<int>(index);
  if (lane.open_by >= 0 && lane.open_by != self) out += '\n';
  if (options_.tag) {
    const std::string tag = "[" + source.tag + "] ";
    bool line_start = !(source.mid_line && lane.open_by == self);
    while (!text.empty()) {
      if (line_start) out += tag;
      const size_t end = text.find('\n');
      const size_t length = end == std::string_view::npos ? text.size() : end + 1;
      out += text.substr(0, length);
      text.remove_prefix(length);
      line_start = true;
    }
  } else {
    out += text;
  }
  lane.open_by = out.back() == '\n' ? -1 : self;
  lane.sink.push(out);
}

void Output::release(Lane& lane) {
  lane.owner = -1;
  lane.others_wait = false;
  if (!lane.own_lines.empty()) {
    if (lane.open_by >= 0) lane.sink.push("\n");
    lane.open_by = -1;
    lane.sink.push(lane.own_lines);
    lane.own_lines.clear();
  }
  for (uint32_t i = 0; i < sources_.size(); ++i) {
    if (&lane_of(sources_[i]) != &lane) continue;
    if (!sources_[i].buffer.empty()) take(i);
    if (!sources_[i].fd && lane.owner < 0) finish_source(i);
    update_polling(i);
  }
}

void Output::finish_source(uint32_t index) {
  Source& source = sources_[index];
  source.watch.set(source.fd.get(), false);
  source.fd.reset();
  if (to_file(source)) return;  // of a silent rank an empty one, in place of an earlier job's
  Lane& lane = lane_of(source);
  if (lane.owner >= 0 && lane.owner != static_cast<int>(index)) {
    lane.others_wait = true;
    return;
  }
  emit(index, source.buffer);
  source.buffer.clear();
  source.mid_line = false;
  if (lane.owner == static_cast<int>(index)) release(lane);
}

void Output::say(const std::string& line) {
  Lane& lane = *lanes_[1];
  if (lane.owner >= 0) {
    lane.own_lines += line + "\n";
    lane.others_wait = true;
    return;
  }
  lane.sink.push((lane.open_by >= 0 ? "\n" : "") + line + "\n");
  lane.open_by = -1;
}

int Output::stdout_error() {
  return lanes_[0]->sink.error();
}

bool Output::lost_stderr() {
  const int failure = lanes_[1]->sink.error();
  return failure != 0 && failure != EPIPE;
}

double Output::deadline() const {
  double first = kNever;
  for (const auto& lane : lanes_)
    if (lane->owner >= 0 && lane->others_wait)
      first = std::min(first, lane->owner_spoke + kOwnerPatience);
  return first;
}

void Output::woken() {
  for (const auto& lane : lanes_) {
    if (lane->owner < 0 || !lane->others_wait || now_s() < lane->owner_spoke + kOwnerPatience)
      continue;
    // A congested sink is why the owner is not read: it is not its silence.
    if (lane->sink.congested()) {
      lane->owner_spoke = now_s();
      continue;
    }
    sources_[static_cast<size_t>(lane->owner)].mid_line = false;
    release(*lane);
  }
  for (uint32_t i = 0; i < sources_.size(); ++i) update_polling(i);
}

void Output::finish() {
  // The owner of a lane first: everybody else's lines wait for the end of its line.
  std::vector<uint32_t> order;
  for (const auto& lane : lanes_)
    if (lane->owner >= 0) order.push_back(static_cast<uint32_t>(lane->owner));
  for (uint32_t i = 0; i < sources_.size(); ++i) order.push_back(i);
  for (const uint32_t i : order) {
    while (read_some(i)) lane_of(sources_[i]).sink.wait_for_room();
    finish_source(i);
  }
  for (const auto& lane : lanes_) {
    release(*lane);
    lane->sink.drain();
  }
}

}  // namespace causeway::launch
