#include "launch/relay_start.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/clock.h"
#include "launch/handshake.h"
#include "launch/wire.h"

namespace causeway::launch {
namespace {

constexpr double kInvitationLimit = 60.0;
constexpr double kOneAddress = 5.0;
constexpr size_t kLongestLine = 64 << 10;

std::string read_line(int fd) {
  const double until = now_s() + kInvitationLimit;
  std::string line;
  while (line.empty() || line.back() != '\n') {
    if (!wait_readable(fd, until))
      throw Error(CWY_ERR_TIMEOUT, "no invitation on standard input within {:g} s",
                  kInvitationLimit);
    char c = 0;
    const ssize_t n = ::read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || line.size() >= kLongestLine) break;
    line += c;
  }
  return line;
}

// The launcher may be seen under some of its addresses only, and what answers at one of them may
// be something else.
UniqueFd reach(const Invitation& invitation) {
  const double until = now_s() + invitation.limit_s;
  std::string reasons;
  for (const std::string& address : invitation.addresses) {
    try {
      const double limit = std::min(kOneAddress, until - now_s());
      if (limit <= 0) throw Error(CWY_ERR_TIMEOUT, "no time left");
      UniqueFd socket = connect_to(address, invitation.port, limit);
      introduce(socket.get(), invitation, kOneAddress);
      return socket;
    } catch (const Error& e) {
      reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : ", ", address, e.text());
    }
  }
  throw Error(CWY_ERR_UNREACHABLE,
              "cannot reach the launcher at port {} of {}; see `causeway run --address`",
              invitation.port, reasons);
}

// The order comes when all hosts are there. Nothing but signs of life comes before it.
StartOrder await_order(int socket, double limit_s) {
  const auto take = [socket, until = now_s() + limit_s](size_t size) {
    return receive(socket, size, until, "the launcher did not give the order to start",
                   "the launcher has ended");
  };
  for (;;) {
    uint32_t head[2];
    std::memcpy(head, take(sizeof head).data(), sizeof head);
    if (head[0] > kLongestFrame) throw Error(CWY_ERR_INVALID, "the launcher talks nonsense");
    const std::string body = take(head[0]);
    if (static_cast<Word>(head[1]) == Word::start) return StartOrder::unpack(body);
  }
}

}  // namespace

Joined join_launcher(int invitation_fd) {
  const Invitation invitation = Invitation::unpack(read_line(invitation_fd));
  Joined joined;
  joined.socket = reach(invitation);
  const int yes = 1;
  ::setsockopt(joined.socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  // The launcher itself gives up after the limit; the rest covers what is under way.
  joined.order = await_order(joined.socket.get(), invitation.limit_s + kOneAddress);
  ::fcntl(joined.socket.get(), F_SETFL, O_NONBLOCK);
  return joined;
}

std::string relay_session(const StartOrder& order) {
  return fmt::format("{}.{}", order.layout.job_id, order.host);
}

}  // namespace causeway::launch
