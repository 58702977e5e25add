#include "launch/gate.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "launch/clock.h"
#include "launch/watch.h"

namespace causeway::launch {
namespace {

// A process of this user may connect and say nothing for so long; it holds nobody up.
constexpr double kSilence = 30.0;
constexpr int kLookMs = 100;  // for their end, and for ready ones that the library has not taken
// The library reads a first message with all else waiting.
constexpr timeval kMessage{1, 0};

struct Ends {
  sockaddr_in peer, own;
};

std::optional<Ends> ends_of(int connection) {
  Ends ends{};
  socklen_t size = sizeof ends.peer;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&ends.peer), &size) != 0) return {};
  size = sizeof ends.own;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&ends.own), &size) != 0) return {};
  if (ends.peer.sin_family != AF_INET || ends.own.sin_family != AF_INET) return {};
  return ends;
}

// A socket that has been closed is nobody's, and has inode 0: the kernel gives root for its owner.
std::optional<uid_t> owner_if_held(uid_t owner, uint64_t inode) {
  return inode == 0 ? std::nullopt : std::optional(owner);
}

// Asks the kernel for the one socket. False: it does not answer such questions.
bool ask_kernel(const Ends& ends, std::optional<uid_t>& owner) {
  struct {
    nlmsghdr head;
    inet_diag_req_v2 body;
  } question{};
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = AF_INET;
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0u;
  question.body.id.idiag_sport = ends.peer.sin_port;
  question.body.id.idiag_dport = ends.own.sin_port;
  question.body.id.idiag_src[0] = ends.peer.sin_addr.s_addr;
  question.body.id.idiag_dst[0] = ends.own.sin_addr.s_addr;
  question.body.id.idiag_cookie[0] = question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  const UniqueFd kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) < 0) return false;
  struct {
    nlmsghdr head;
    union {
      inet_diag_msg body;
      nlmsgerr failure;
    };
    char attributes[512];
  } answer{};
  // The answer is there when the question has been sent.
  if (::recv(kernel.get(), &answer, sizeof answer, MSG_DONTWAIT) <
      static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))))
    return false;
  if (answer.head.nlmsg_type == NLMSG_ERROR) return false;
  // Where there is no such connection the kernel may tell of one that listens.
  if (answer.body.id.idiag_dport == ends.own.sin_port)
    owner = owner_if_held(answer.body.idiag_uid, answer.body.idiag_inode);
  return true;
}

// For kernels without those questions.
std::optional<uid_t> look_up(const Ends& ends) {
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);) {
    unsigned from = 0, from_port = 0, to = 0, to_port = 0, owner = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), " %*u: %8X:%4X %8X:%4X %*X %*X:%*X %*X:%*X %*X %u %*u %lu", &from,
                    &from_port, &to, &to_port, &owner, &inode) != 6)
      continue;
    if (from == ends.peer.sin_addr.s_addr && from_port == ntohs(ends.peer.sin_port) &&
        to == ends.own.sin_addr.s_addr && to_port == ntohs(ends.own.sin_port))
      return owner_if_held(owner, inode);
  }
  return std::nullopt;
}

struct Guest {
  UniqueFd socket;
  double until;
};

// How a client's first message begins, in PMIx 4 and 5.
struct Hello {
  uint64_t mark;   // all bits: a client that has no number yet
  uint64_t bytes;  // that follow
};
constexpr uint64_t kMostBytes = 1 << 16;

enum class Word { none, said, gone };

// A message of another shape has been said when it is as long as a beginning.
Word word_of(const Guest& guest, double now) {
  const int fd = guest.socket.get();
  pollfd end{fd, POLLRDHUP, 0};
  Hello hello{};
  int held = 0;
  if (::poll(&end, 1, 0) != 0 || ::ioctl(fd, FIONREAD, &held) != 0) return Word::gone;
  ::recv(fd, &hello, sizeof hello, MSG_PEEK | MSG_DONTWAIT);
  const uint64_t follow = hello.mark == ~uint64_t{0} ? hello.bytes : 0;
  if (follow > kMostBytes || now > guest.until) return Word::gone;
  const int whole = static_cast<int>(sizeof hello + follow);
  // What poll() waits for; as it was where the library reads.
  const int awaited = held < whole ? whole : 1;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &awaited, sizeof awaited);
  return held < whole ? Word::none : Word::said;
}

// Has the library call accept() again: a connection, to where `guest` came, that is closed at once.
void ring(const UniqueFd& guest) {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  const UniqueFd bell(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (bell && ::getsockname(guest.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0)
    ::connect(bell.get(), reinterpret_cast<sockaddr*>(&own), size);
}

// Guests on their way to the library, whose thread may not wait for them: PMIx 5 accepts in the
// thread that does all else. A thread of the hall's waits instead. It rings once for each guest
// that it makes ready, and each call of accept() takes a connection and returns a ready guest, so
// that no guest stays; a bell that a full backlog has lost is rung again.
class Hall {
 public:
  ~Hall() {
    open_.store(false, std::memory_order_relaxed);  // `event_` orders it
    wake(event_.get());
    watcher_.join();
  }

  int next(int listener) {
    Guest guest{UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)), now_s() + kSilence};
    const Word word = guest.socket ? word_of(guest, now_s()) : Word::gone;
    const std::lock_guard lock(mutex_);
    if (word != Word::gone && peer_owner(guest.socket.get()) == ::geteuid()) {
      ::setsockopt(guest.socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kMessage, sizeof kMessage);
      (word == Word::said ? ready_ : silent_).push_back(std::move(guest));
      if (word == Word::none) wake(event_.get());
    }
    errno = EAGAIN;
    if (ready_.empty()) return -1;
    const int socket = ready_.front().socket.release();
    ready_.pop_front();
    return socket;
  }

 private:
  void watch() {
    for (bool late = false; open_.load(std::memory_order_relaxed);) {
      std::vector<pollfd> waited{{event_.get(), POLLIN, 0}};
      int limit_ms = -1;
      {
        const std::lock_guard lock(mutex_);
        if (late && !ready_.empty()) ring(ready_.front().socket);
        for (const Guest& guest : silent_) waited.push_back({guest.socket.get(), POLLIN, 0});
        if (!silent_.empty() || !ready_.empty()) limit_ms = kLookMs;
      }
      late = ::poll(waited.data(), waited.size(), limit_ms) == 0;
      discard_input(event_.get());
      hear();
    }
  }

  void hear() {
    const std::lock_guard lock(mutex_);
    const double now = now_s();
    std::erase_if(silent_, [&](Guest& guest) {
      const Word word = word_of(guest, now);
      if (word == Word::said) {
        ring(guest.socket);
        ready_.push_back(std::move(guest));
      }
      return word != Word::none;
    });
  }

  const UniqueFd event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> open_{true};
  std::mutex mutex_;
  std::deque<Guest> silent_, ready_;  // under mutex_
  std::thread watcher_{&Hall::watch, this};
};

// Changes while the library has no thread. Acquire and release: the hall is whole.
std::atomic<Hall*> g_hall{nullptr};

// By the mark that next() leaves.
bool is_guest(int socket) {
  timeval limit{};
  socklen_t size = sizeof limit;
  ::getsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, &size);
  return g_hall.load(std::memory_order_acquire) != nullptr && limit.tv_sec == kMessage.tv_sec;
}

}  // namespace

void guard_connections() {
  g_hall.store(new Hall, std::memory_order_release);
}
void stop_guarding() {
  delete g_hall.exchange(nullptr, std::memory_order_acq_rel);
}

std::optional<uid_t> peer_owner(int connection) {
  const std::optional<Ends> ends = ends_of(connection);
  std::optional<uid_t> owner;
  if (!ends || ask_kernel(*ends, owner)) return owner;
  return look_up(*ends);
}

}  // namespace causeway::launch

// In the place of the C library's, for every object of this process.
extern "C" __attribute__((visibility("default"))) int accept(int listener, sockaddr* address,
                                                             socklen_t* size) {
  using namespace causeway::launch;
  Hall* const hall = g_hall.load(std::memory_order_acquire);
  if (hall == nullptr) return ::accept4(listener, address, size, 0);
  const int guest = hall->next(listener);
  if (guest >= 0 && address != nullptr) ::getpeername(guest, address, size);
  return guest;
}

// Likewise. The library, 4.2 and 5.0, frees what it goes on using when the answer to a first
// message fails, and crashes at the next connection. So an answer to a client that has died since
// is lost in silence, as it would be a moment later; the end of what comes from there tells of the
// death.
extern "C" __attribute__((visibility("default"))) ssize_t send(int socket, const void* data,
                                                               size_t length, int flags) {
  const ssize_t sent = ::sendto(socket, data, length, flags, nullptr, 0);
  const bool lost = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
  return lost && causeway::launch::is_guest(socket) ? static_cast<ssize_t>(length) : sent;
}
