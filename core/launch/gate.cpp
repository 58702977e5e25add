#include "launch/gate.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "launch/clock.h"

namespace causeway::launch {
namespace {

// A process of this user may connect and say nothing for so long; it holds nobody up.
constexpr double kSilence = 30.0;
constexpr int kLookMs = 100;  // for the word to stop, while there are silent ones
// The library reads the rest of a first message with all else waiting.
constexpr timeval kRestOfMessage{1, 0};

std::atomic<bool> g_guarded{false};

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

enum class Word { none, said, gone };

Word word_of(const Guest& guest, double now) {
  char byte = 0;
  const ssize_t n = ::recv(guest.socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0) return Word::said;
  const bool silent = n < 0 && (errno == EAGAIN || errno == EINTR);
  return silent && now < guest.until ? Word::none : Word::gone;
}

void take_guest(int listener, std::vector<Guest>& guests) {
  UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket || peer_owner(socket.get()) != ::geteuid()) return;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kRestOfMessage, sizeof kRestOfMessage);
  guests.push_back({std::move(socket), now_s() + kSilence});
}

// Has the library call accept() again: a connection that is closed at once.
void ring(int listener) {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  const UniqueFd bell(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (bell && ::getsockname(listener, reinterpret_cast<sockaddr*>(&own), &size) == 0)
    ::connect(bell.get(), reinterpret_cast<sockaddr*>(&own), size);
}

// In the library's one thread that accepts, which does nothing else. It stays here while a guest
// has said nothing yet: the library waits for the listener alone.
int next_guest(int listener) {
  static auto& guests = *new std::vector<Guest>;
  for (bool first = true; first || !guests.empty(); first = false) {
    if (!g_guarded.load(std::memory_order_relaxed)) break;
    std::vector<pollfd> ready{{listener, POLLIN, 0}};
    for (const Guest& guest : guests) ready.push_back({guest.socket.get(), POLLIN, 0});
    ::poll(ready.data(), ready.size(), first ? 0 : kLookMs);
    if (ready[0].revents != 0) take_guest(listener, guests);
    const double now = now_s();
    for (size_t i = 0; i < guests.size();) {
      const Word word = word_of(guests[i], now);
      if (word == Word::none) {
        ++i;
        continue;
      }
      UniqueFd socket = std::move(guests[i].socket);
      guests.erase(guests.begin() + static_cast<ptrdiff_t>(i));
      if (word == Word::gone) continue;
      if (!guests.empty()) ring(listener);
      return socket.release();
    }
  }
  errno = EAGAIN;
  return -1;
}

}  // namespace

// Relaxed: the library starts its thread after the one and joins it after the other.
void guard_connections() {
  g_guarded.store(true, std::memory_order_relaxed);
}
void stop_guarding() {
  g_guarded.store(false, std::memory_order_relaxed);
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
  if (!g_guarded.load(std::memory_order_relaxed)) return ::accept4(listener, address, size, 0);
  const int guest = next_guest(listener);
  if (guest >= 0 && address != nullptr) ::getpeername(guest, address, size);
  return guest;
}
