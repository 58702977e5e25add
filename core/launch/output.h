// Output: the ranks' stdout and stderr become the launcher's, whole lines at a time.
//
// One writer thread per sink does the writing, so that a slow reader of the launcher's output
// never stops supervision. A sink that is behind stops the reading of its sources: the ranks then
// wait in write(2), as they would with the reader directly.
//
// Memory is bounded: a line longer than kLongLine is passed on in pieces while its rank owns the
// sink and other ranks' lines wait. If the owner falls silent for kOwnerPatience while others are
// waiting, it loses the sink: a torn line is better than two ranks waiting for each other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "launch/watch.h"

namespace causeway::launch {

inline constexpr size_t kLongLine = 64 << 10;
inline constexpr size_t kSinkHigh = 4 << 20;
inline constexpr size_t kSinkLow = 1 << 20;
inline constexpr double kOwnerPatience = 1.0;

// A descriptor written by a thread of its own.
class Sink {
 public:
  // `wake_fd`: an eventfd that is signalled when the backlog has fallen to kSinkLow after it
  // was at kSinkHigh, and when writing fails.
  Sink(int fd, int wake_fd);
  ~Sink();
  Sink(const Sink&) = delete;

  void push(std::string_view text);
  bool congested();
  int error();           // errno of a failed write, 0 while all is well
  void wait_for_room();  // blocks while congested
  void drain();          // blocks until everything is written or writing fails

 private:
  void write_all();

  const int fd_;
  const int wake_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string pending_;
  size_t in_flight_ = 0;
  bool was_congested_ = false;
  bool stop_ = false;
  int error_ = 0;
  std::thread writer_;
};

class Output {
 public:
  struct Options {
    bool tag = false;
    bool raw = false;            // one rank: its bytes are passed on at once, lines or not
    int stderr_fd = 2;           // where the launcher's stderr is now
    std::string directory = {};  // not empty: rank.<N>.out and .err there instead
  };
  Output(Options options, int epoll_fd, uint64_t epoll_tag, int wake_fd);

  // `stream` is STDOUT_FILENO or STDERR_FILENO. The source's epoll data is epoll_tag | index.
  // `tag` is what stands in brackets before its lines.
  void add(std::string tag, int stream, UniqueFd read_end);
  // Lines that begin from now on. Sources that were added with the same old tag.
  void retag(const std::string& from, const std::string& to);

  void readable(uint32_t source);
  void woken();                       // the wake_fd was signalled
  void say(const std::string& line);  // a line of the launcher's own, to stderr
  int stdout_error();
  bool lost_stderr();                              // for another reason than that nobody reads it
  bool lost_files() const { return lost_files_; }  // something was not written to `directory`

  // When woken() wants to be called although nobody signals; infinity if never.
  double deadline() const;

  // Everything that is still in the pipes, then the ends of unfinished lines; returns when it is
  // written.
  void finish();

 private:
  struct Source {
    std::string tag;
    int stream;
    UniqueFd fd;
    std::string buffer;
    Watch watch;
    bool mid_line = false;  // part of a long line has been passed on
    bool is_rank() const { return tag.rfind("host ", 0) != 0; }  // else an agent of a host
  };
  struct Lane {  // one sink and who may write to it
    explicit Lane(int fd, int wake_fd) : sink(fd, wake_fd) {}
    Sink sink;
    int owner = -1;    // source in the middle of a long line
    int open_by = -1;  // source whose text left the sink in the middle of a line
    double owner_spoke = 0.0;
    bool others_wait = false;
    std::string own_lines;
  };

  Lane& lane_of(const Source& source) { return *lanes_[source.stream == 1 ? 0 : 1]; }
  bool read_some(uint32_t index);
  void take(uint32_t index);
  bool to_file(Source& source);
  void emit(uint32_t index, std::string_view text);
  void finish_source(uint32_t index);
  void release(Lane& lane);
  void update_polling(uint32_t index);

  const Options options_;
  const int epoll_fd_;
  const uint64_t epoll_tag_;
  std::unique_ptr<Lane> lanes_[2];
  std::vector<Source> sources_;
  std::map<std::string, UniqueFd> files_;  // by name
  bool lost_files_ = false;
};

}  // namespace causeway::launch
