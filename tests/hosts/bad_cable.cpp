// bad_cable NAMESPACE_A NAMESPACE_B INTERFACE SEED [delay=MS] [jitter=MS] [loss=%] [dup=%]
// [rate=KBIT] A cable between two network namespaces that delays, reorders, loses and doubles
// frames, or is slow, for kernels that have no netem: a TAP device at either end and this process
// between them. Runs until it is killed.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <random>
#include <string>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bad_cable: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

// The device stays in the namespace that this thread is in when it is made.
int open_end(const std::string& name, const char* interface) {
  const int space = ::open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0 || ::setns(space, CLONE_NEWNET) != 0) fail("namespace " + name);
  ::close(space);
  const int fd = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
  if (::ioctl(fd, TUNSETIFF, &request) != 0) fail("a TAP device in " + name);
  return fd;
}

struct Frame {
  Clock::time_point due;
  int to;
  std::string bytes;
  bool operator<(const Frame& other) const { return due > other.due; }
};

struct Faults {
  double delay = 0, jitter = 0;  // milliseconds
  double loss = 0, dup = 0;      // of a hundred frames
  double rate = 0;               // kbit/s each way; 0: as fast as it can

  void set(const std::string& argument) {
    const std::pair<const char*, double*> all[] = {{"delay=", &delay},
                                                   {"jitter=", &jitter},
                                                   {"loss=", &loss},
                                                   {"dup=", &dup},
                                                   {"rate=", &rate}};
    for (const auto& [name, value] : all)
      if (argument.rfind(name, 0) == 0) {
        *value = std::atof(argument.c_str() + std::strlen(name));
        return;
      }
    std::fprintf(stderr, "bad_cable: unknown argument %s\n", argument.c_str());
    std::exit(2);
  }
};

class Cable {
 public:
  Cable(const Faults& faults, unsigned seed)
      : faults_(faults),
        random_(seed),
        lost_(faults.loss / 100),
        doubled_(faults.dup / 100),
        jitter_(-faults.jitter, faults.jitter) {}

  void take(int from, int to, std::string bytes) {
    Clock::time_point sent = Clock::now();
    if (faults_.rate > 0) {
      // A slow cable has a queue of 50 ms before it; a frame that finds it full is lost.
      Clock::time_point& free = free_[from];
      sent = std::max(sent, free);
      if (sent - Clock::now() > std::chrono::milliseconds(50)) return;
      sent = free = sent + milliseconds(static_cast<double>(bytes.size()) * 8 / faults_.rate);
    }
    if (lost_(random_)) return;
    if (doubled_(random_)) push(sent, to, bytes);
    push(sent, to, std::move(bytes));
  }

  // The time until a frame is due; -1: none is under way.
  int limit_ms() const {
    if (waiting_.empty()) return -1;
    const auto left = std::chrono::duration<double, std::milli>(waiting_.top().due - Clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }

  void deliver() {
    while (!waiting_.empty() && waiting_.top().due <= Clock::now()) {
      const Frame& frame = waiting_.top();
      // A full queue loses the frame, as a network may.
      [[maybe_unused]] const ssize_t n = ::write(frame.to, frame.bytes.data(), frame.bytes.size());
      waiting_.pop();
    }
  }

 private:
  static Clock::duration milliseconds(double ms) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double, std::milli>(ms));
  }
  // A jitter that is drawn for every frame reorders them as well.
  void push(Clock::time_point sent, int to, std::string bytes) {
    const double after = std::max(0.0, faults_.delay + jitter_(random_));
    waiting_.push({sent + milliseconds(after), to, std::move(bytes)});
  }

  const Faults faults_;
  std::mt19937 random_;
  std::bernoulli_distribution lost_, doubled_;
  std::uniform_real_distribution<double> jitter_;
  std::priority_queue<Frame> waiting_;
  Clock::time_point free_[2];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int ends[2] = {open_end(argv[1], argv[3]), open_end(argv[2], argv[3])};
  Faults faults;
  for (int i = 5; i < argc; ++i) faults.set(argv[i]);
  Cable cable(faults, static_cast<unsigned>(std::atoi(argv[4])));
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    pollfd watched[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
    ::poll(watched, 2, cable.limit_ms());
    for (int i = 0; i < 2; ++i) {
      char bytes[65536];
      // So many at a time: what is due goes out in between.
      for (int taken = 0; taken < 64; ++taken) {
        const ssize_t n = ::read(ends[i], bytes, sizeof bytes);
        if (n <= 0) break;
        cable.take(i, ends[1 - i], std::string(bytes, static_cast<size_t>(n)));
      }
    }
    cable.deliver();
  }
}
