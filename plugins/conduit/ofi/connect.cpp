// Reaching, joining, leaving and giving up a peer.
#include <cstring>

#include "../common/guard.h"
#include "../common/plugin_error.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

// How long a purge lets the provider end what it has of a dead peer.
constexpr uint64_t drain_ns = 100'000'000;

cwy_status read_address(const cwyc_domain* domain, const cwyc_peer_desc* peer, Address& out,
                        cwy_err* err) {
  if (peer->address_len != sizeof out)
    return report(err, CWY_ERR_INVALID, "rank %u gave an address of %llu bytes; expected %zu",
                  peer->peer.rank, static_cast<unsigned long long>(peer->address_len), sizeof out);
  std::memcpy(&out, peer->address, sizeof out);
  out.provider[sizeof out.provider - 1] = '\0';
  if (out.magic != wire_magic || out.version != wire_version || out.length > longest_address)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u uses another version of this conduit; install the same one everywhere",
                  peer->peer.rank);
  const Path& path = domain->path;
  if (path.provider != out.provider || path.msg != (out.msg != 0))
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u uses provider %s with %s endpoints, this rank %s with %s; name one with "
                  "the options provider and endpoint",
                  peer->peer.rank, out.provider, out.msg != 0 ? "connected" : "datagram",
                  path.provider.c_str(), path.msg ? "connected" : "datagram");
  return CWY_OK;
}

// A link that the peer made, and that nobody here uses.
Link* usable_link(cwyc_ep* ep, cwy_peer peer, uint64_t nonce) {
  for (const auto& link : ep->links) {
    if (link != nullptr && link->nonce == nonce && link->peer.rank == peer.rank &&
        link->peer.epoch == peer.epoch && link->state == LinkState::up && !link->purged &&
        !link->lost && !link->local_closed && !link->remote_closed && link->conn == nullptr)
      return link.get();
  }
  return nullptr;
}

}  // namespace

cwy_status reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  const Path& path = domain->path;
  if (path.host_only && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE, "provider %s reaches ranks of this host only",
                  path.provider.c_str());
  if (path.loopback && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE,
                  "provider %s was opened on %s, which reaches this host only; name another device",
                  path.provider.c_str(), path.device.c_str());
  if (peer->address == nullptr) return CWY_OK;
  Address address;
  const cwy_status status = read_address(domain, peer, address, err);
  if (status != CWY_OK) return status;
  if (address.loopback != 0 && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u listens on its loopback interface only; name a device for it",
                  peer->peer.rank);
  return CWY_OK;
}

cwy_status connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                   cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    // Not waited for: a handler that runs inside may be about to connect, and wait for the caller.
    const Pass pass(ep->domain->gate, std::try_to_lock);
    if (pass.refused()) return CWY_RETRY;
    if (peer->address == nullptr)
      return report(err, CWY_ERR_UNREACHABLE, "rank %u has no address of this conduit",
                    peer->peer.rank);
    cwy_status status = reach(ep->domain, peer, err);
    if (status != CWY_OK) return status;
    Address address;
    status = read_address(ep->domain, peer, address, err);
    if (status != CWY_OK) return status;
    if (!admit_epoch(ep, peer->peer))
      return report(err, CWY_ERR_PEER_FAILED, "rank %u has been replaced by a newer epoch",
                    peer->peer.rank);
    if (Link* link = usable_link(ep, peer->peer, address.nonce)) {
      link->conn = conn;
      conn->priv = link;
      return CWY_OK;
    }
    Link* link = make_link(ep, peer->peer, address.nonce);
    if (link == nullptr) return report(err, CWY_ERR_NOMEM, "too many connections");
    status = begin_connect(*link, address, err);
    if (status < 0) {
      destroy_link(link);
      return status;
    }
    link->conn = conn;
    conn->priv = link;
    if (link->state == LinkState::up) return CWY_OK;
    link->connect_op = op;
    return CWY_INPROGRESS;
  });
}

void disconnect(cwyc_conn* conn) {
  const Pass pass(conn->ep->domain->gate);
  if (conn->priv == nullptr) return;
  Link& link = link_of(conn);
  conn->priv = nullptr;
  link.conn = nullptr;
  link.local_closed = true;
  if (link.purged) {
    destroy_link(&link);
    return;
  }
  // What the peer may still send, or has sent before the link was lost, is received.
  link.bye_due = !link.lost;
  want_attention(&link);
}

void purge(cwyc_conn* conn) {
  const Pass pass(conn->ep->domain->gate);
  if (conn->priv == nullptr) return;
  Link& link = link_of(conn);
  // Whatever the link was before: a newer epoch may have made it `purged` without ending anything.
  link.purged = true;
  if (link.state == LinkState::connecting) --link.ep->connecting;
  link.state = LinkState::failed;
  link.lost = link.reported = true;
  // The link stays until disconnect, which follows a purge also where no connection came up; posts
  // find it failed meanwhile.
  if (cwyc_op* op = std::exchange(link.connect_op, nullptr))
    op->fn(op, CWYC_DONE_REMOTE, CWY_ERR_PEER_FAILED);
  // Closing a connected endpoint takes its operations back from the provider at once. Datagrams
  // have no such call: their operations are cancelled and get a while to end.
  if (link.own != nullptr) {
    link.own.reset();
    link.endpoint = nullptr;
  } else {
    drain_link(link, drain_ns);
  }
  abandon_pending(link);
}

}  // namespace causeway::ofi
