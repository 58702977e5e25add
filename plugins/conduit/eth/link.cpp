// How links move on and end, and what they hold when they do.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "calls.h"

namespace causeway::eth {
namespace {

// Bytes that have left this process arrive without it, as long as nothing comes that nobody reads:
// the kernel would answer that by dropping the rest. As recv() answers of what is left.
ssize_t read_empty(Link& link) {
  char unread[4096];
  ssize_t got = 1;
  while (got > 0) got = recv(link.socket.get(), unread, sizeof unread, MSG_DONTWAIT);
  return got;
}

// The peer's kernel has what left before the end.
void linger(Link& link) {
  while (services->now() < link.ep->closes_at) {
    flush(link, true);
    const ssize_t got = read_empty(link);
    int waiting = 0;
    const bool ended = got == 0 || link.out.broken;
    if (ended || ioctl(link.socket.get(), SIOCOUTQ, &waiting) != 0) return;
    if (waiting == 0 && link.out.empty()) return;
    pollfd until{link.socket.get(), POLLIN, 0};
    poll(&until, 1, 1);
  }
}

}  // namespace

void close_path(Link& link) {
  end_datagrams(link);
  clear_outbox(link);
  clear_inbox(link);
  link.acks.clear();
  link.answers.clear();
  set_socket(link, Descriptor());
  link.unwatched = false;
}

// A connection ends in its reader's hands: what came over it has been read, but for requests that
// wait.
bool Network::may_be_unread(const Link& link) {
  return link.lost && !link.ep->deferred.empty();
}

bool Network::is_usable(const Link& link) {
  return link.state == LinkState::up || link.state == LinkState::parked;
}

void set_socket(Link& link, Descriptor socket) {
  link.ep->sockets += (socket ? 1u : 0u) - (link.socket ? size_t{1} : size_t{0});
  link.socket = std::move(socket);
}

void Network::path_lost(Link& link) {
  close_path(link);
  abandon_pending(link, CWY_ERR_PEER_FAILED);
}

void Network::end_path(Link& link) {
  if (link.socket && !link.purged && link.datagrams.under_way()) {
    bring_back(link);
    read_empty(link);
  }
  if (link.ep->closes_at != 0 && link.socket && !link.purged) linger(link);
  close_path(link);
}

void Network::purge_path(Link& link) {
  close_path(link);
}

// Keepalives find hosts that are silent while nothing is under way. Otherwise the kernel would try
// for a quarter of an hour; TCP_USER_TIMEOUT would end connections to processes that are busy and
// do not read, whose kernels answer. They are asked ever more rarely then, and a question that has
// just been asked is no silence yet: two looks have to find it.
void look_for_silence(cwyc_ep* ep) {
  const uint64_t limit = ep->domain->options.peer_timeout_ns / 1'000'000;
  for (size_t i = 0; i < ep->links.size(); ++i) {
    Link* const link = ep->links[i].get();
    if (link == nullptr || !link->socket) continue;
    const bool asked = link->state == LinkState::connecting
                           ? link->hello_sent
                           : link->pending != nullptr || !link->out.empty();
    if (!asked) continue;
    tcp_info info{};
    socklen_t length = sizeof info;
    if (getsockopt(link->socket.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) continue;
    const bool waits = info.tcpi_unacked != 0 || info.tcpi_probes != 0;
    const bool before = std::exchange(link->silent, waits && info.tcpi_last_ack_recv > limit);
    if (before && link->silent) lose_link(*link, "its host answers nothing");
  }
}

}  // namespace causeway::eth
