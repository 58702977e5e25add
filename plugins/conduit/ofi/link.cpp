// What the engine asks of this network's links: how they are told of, moved on and ended, and where
// they can lead.
#include <algorithm>
#include <cstring>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

// How long a purge lets the provider end what it has of a dead peer.
constexpr uint64_t drain_ns = 100'000'000;

}  // namespace

// Whether what the peer sent before the link was lost may lie in a queue yet. The end of a
// connection, or that it takes nothing more, shows before what came over it has been read.
bool Network::may_be_unread(const Link& link) {
  const cwyc_ep* ep = link.ep;
  return link.lost &&
         (ep->emptied == link.lost_at || ep->batch_head != ep->batch_tail || !ep->deferred.empty());
}

void Network::path_lost(Link& link) {
  link.lost_at = link.ep->emptied;
}

// Reads that met a full queue, and frames that did, are not in the provider's hands.
bool Network::withdraw(Link& link, Ticket* ticket) {
  const auto is_ticket = [&](const Parked& frame) { return frame.ticket == ticket; };
  return std::erase_if(link.parked, is_ticket) != 0 || std::erase(link.ep->reads_due, ticket) != 0;
}

void Network::end_path(Link& link) {
  cwyc_ep* ep = link.ep;
  forget_own(link);  // the provider lets go of its buffers
  // One that the provider gave back when the link was purged may be another link's by now.
  for (ReceiveBuffer* buffer : link.queue)
    if (buffer->owner == &link) buffer->owner = nullptr;
  unwant_buffers(ep, &link);
  if (link.address == FI_ADDR_UNSPEC || ep->av == nullptr) return;
  if (--ep->address_users[link.address] == 0) {
    ep->address_users.erase(link.address);
    fi_av_remove(ep->av.get(), &link.address, 1, 0);
  }
  link.address = FI_ADDR_UNSPEC;
}

// Closing a connected endpoint takes its operations back from the provider at once. Datagrams have
// no such call: their operations are cancelled and get a while to end.
void Network::purge_path(Link& link) {
  if (link.own != nullptr) {
    forget_own(link);
    link.endpoint = nullptr;
  } else {
    drain_link(link, drain_ns);
  }
}

// Connections tell of their ends. Datagrams to a process that has gone may stay without an answer.
cwy_status Network::joined(Link& link, const cwyc_peer_desc& peer, cwy_err* err) {
  if (link.ep->domain->path.msg || link.state == LinkState::up) return CWY_OK;
  Address there;
  std::memcpy(&there, peer.address, sizeof there);
  if (watch_process(link, peer, link.ep->address.pid_namespace, there.pid_namespace)) return CWY_OK;
  return report(err, CWY_ERR_PEER_FAILED, "rank %u: process %u is gone", peer.peer.rank, peer.pid);
}

uint32_t Network::push_connecting(Link& link, uint64_t now) {
  constexpr uint64_t look_interval_ns = 50'000'000;
  if (!link.active) return 0;
  tell_silence(link, now);
  if (!link.process || now < link.next_look) return 0;
  link.next_look = now + look_interval_ns;
  if (!has_ended(link.process)) return 0;
  lose_link(link, "its process has ended");
  return 1;
}

// True while something of this link waits for room.
bool Network::push_path(Link& link) {
  if (link.hello_due && !link.lost) link.hello_due = !send_hello(link, FrameKind::hello);
  if (link.welcome_due && !link.lost) link.welcome_due = !send_hello(link, FrameKind::welcome);
  while (!link.parked.empty() && post_parked(link, link.parked.front())) link.parked.pop_front();
  return link.hello_due || link.welcome_due || !link.parked.empty();
}

// ---- which peers can be reached

cwy_status Network::speaks_with(const cwyc_domain* domain, const cwyc_peer_desc* peer, Address& to,
                                cwy_err* err) {
  const Path& path = domain->path;
  to.provider[sizeof to.provider - 1] = '\0';
  if (to.length > longest_address)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u gave an address that cannot be read; install the same version of this "
                  "conduit everywhere",
                  peer->peer.rank);
  if (path.provider != to.provider || path.msg != (to.msg != 0))
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u uses provider %s with %s endpoints, this rank %s with %s; name one with "
                  "the options provider and endpoint",
                  peer->peer.rank, to.provider, to.msg != 0 ? "connected" : "datagram",
                  path.provider.c_str(), path.msg ? "connected" : "datagram");
  if (to.loopback != 0 && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u listens on its loopback interface only; name a device for it",
                  peer->peer.rank);
  return CWY_OK;
}

cwy_status Network::reaches(const cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  const Path& path = domain->path;
  if (path.host_only && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE, "provider %s reaches ranks of this host only",
                  path.provider.c_str());
  if (path.loopback && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE,
                  "provider %s was opened on %s, which reaches this host only; name another device",
                  path.provider.c_str(), path.device.c_str());
  return CWY_OK;
}

}  // namespace causeway::ofi
