// bad_cable NAMESPACE_A NAMESPACE_B INTERFACE DELAY_MS JITTER_MS LOSS_PERCENT SEED
// A cable between two network namespaces that delays, reorders and loses frames, for kernels that
// have no netem: a TAP device at either end and this process between them. Runs until it is killed.
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
#include <vector>

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const int ends[2] = {open_end(argv[1], argv[3]), open_end(argv[2], argv[3])};
  const double delay_ms = std::atof(argv[4]), jitter_ms = std::atof(argv[5]);
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[7])));
  std::bernoulli_distribution lost(std::atof(argv[6]) / 100.0);
  // A jitter that is drawn for every frame reorders them as well.
  std::uniform_real_distribution<double> jitter(-jitter_ms, jitter_ms);
  std::priority_queue<Frame> waiting;
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    int limit_ms = -1;
    if (!waiting.empty()) {
      const auto left = std::chrono::duration<double, std::milli>(waiting.top().due - Clock::now());
      limit_ms = std::max(0, static_cast<int>(left.count()));
    }
    pollfd watched[2] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
    ::poll(watched, 2, limit_ms);
    for (int i = 0; i < 2; ++i) {
      char bytes[65536];
      for (ssize_t n; (n = ::read(ends[i], bytes, sizeof bytes)) > 0;) {
        if (lost(random)) continue;
        const std::chrono::duration<double, std::milli> after(
            std::max(0.0, delay_ms + jitter(random)));
        waiting.push({Clock::now() + std::chrono::duration_cast<Clock::duration>(after),
                      ends[1 - i], std::string(bytes, static_cast<size_t>(n))});
      }
    }
    while (!waiting.empty() && waiting.top().due <= Clock::now()) {
      // A full queue loses the frame, as a network may.
      [[maybe_unused]] const ssize_t n =
          ::write(waiting.top().to, waiting.top().bytes.data(), waiting.top().bytes.size());
      waiting.pop();
    }
  }
}
