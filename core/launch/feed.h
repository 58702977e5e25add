// Feed: bytes that came from another host, on their way into a pipe of this one. Bounded by its
// sender's window: kWindow bytes may be under way, until taken() says that some have gone in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "launch/watch.h"

namespace causeway::launch {

inline constexpr size_t kWindow = 256 << 10;

class Feed {
 public:
  Feed() = default;
  Feed(UniqueFd write_end, int epoll, uint64_t tag);

  void push(std::string_view bytes);
  void end();  // of file, behind what has been pushed
  // Moves what fits. Bytes that have left the feed, also those that nobody reads any more.
  size_t pump();
  bool open() const { return static_cast<bool>(pipe_); }
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }
  // The reader has closed its end: what comes is dropped.
  bool broken() const { return broken_; }

 private:
  void close();

  UniqueFd pipe_;
  Watch watch_;
  bool ended_ = false, broken_ = false;
  std::string waiting_;
};

// Passes the launcher's stdin on to one rank: starts a thread that copies it into `pipe` until end
// of file, which it passes on, or until nobody reads the pipe. The thread ends with the process.
void feed_stdin(UniqueFd pipe);

}  // namespace causeway::launch
