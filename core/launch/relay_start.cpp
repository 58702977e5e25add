#include "launch/relay_start.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/clock.h"
#include "launch/handshake.h"

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
StartOrder await_order(Channel& link, double limit_s) {
  const double until = now_s() + limit_s;
  for (;;) {
    const std::vector<Frame> next = link.pump(1);
    if (!next.empty() && next[0].word == Word::start) return StartOrder::unpack(next[0].body);
    if (!next.empty()) continue;
    if (!link) throw Error(CWY_ERR_UNREACHABLE, "the launcher has ended: {}", link.why());
    if (!link.wait(until))
      throw Error(CWY_ERR_TIMEOUT, "the launcher did not give the order to start");
  }
}

}  // namespace

Joined join_launcher(int invitation_fd) {
  const Invitation invitation = Invitation::unpack(read_line(invitation_fd));
  Joined joined;
  UniqueFd socket = reach(invitation);
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  std::unique_ptr<Cipher> cipher;
  if (invitation.encrypted)
    cipher = std::make_unique<Cipher>(Cipher::Side::relay, invitation.secret);
  joined.link = Channel(std::move(socket), std::move(cipher));
  // The launcher itself gives up after the limit; the rest covers what is under way.
  joined.order = await_order(joined.link, invitation.limit_s + kOneAddress);
  return joined;
}

std::string relay_session(const StartOrder& order) {
  return fmt::format("{}.{}", order.layout.job_id, order.host);
}

}  // namespace causeway::launch
