// Reaching, joining, leaving and giving up a peer.
#include <cstring>
#include <utility>

#include "../common/guard.h"
#include "../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

cwy_status read_address(const cwyc_domain* domain, const cwyc_peer_desc* peer, Address& out,
                        cwy_err* err) {
  if (peer->address_len != sizeof out)
    return report(err, CWY_ERR_INVALID, "rank %u gave an address of %llu bytes; expected %zu",
                  peer->peer.rank, static_cast<unsigned long long>(peer->address_len), sizeof out);
  std::memcpy(&out, peer->address, sizeof out);
  if (out.magic != wire_magic || out.version != wire_version)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u uses another version of this conduit; install the same one everywhere",
                  peer->peer.rank);
  const Port& port = domain->port;
  if (out.network != port.network)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u speaks %s, this rank %s on %s; choose with device or gid_index",
                  peer->peer.rank, network_text(out.network), network_text(port.network),
                  port.name.c_str());
  return CWY_OK;
}

// A link that the peer made or is about to make, and that nobody here uses.
Link* usable_link(cwyc_ep* ep, cwy_peer peer, uint64_t nonce) {
  for (const auto& link : ep->links) {
    if (link != nullptr && link->address.nonce == nonce && link->peer.rank == peer.rank &&
        link->peer.epoch == peer.epoch && link->state != LinkState::failed && !link->purged &&
        !link->lost && !link->local_closed && !link->remote_closed && link->conn == nullptr)
      return link.get();
  }
  return nullptr;
}

}  // namespace

cwy_status reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  if (domain->failed)
    return report(err, CWY_ERR_UNREACHABLE, "device %s has failed", domain->port.name.c_str());
  if (peer->address == nullptr) return CWY_OK;
  Address address;
  return read_address(domain, peer, address, err);
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
    Link* link = usable_link(ep, peer->peer, address.nonce);
    if (link == nullptr) {
      link = make_link(ep, peer->peer, address);
      if (link == nullptr) return report(err, CWY_ERR_NOMEM, "too many connections");
      status = begin_connect(*link, err);
      if (status < 0) {
        destroy_link(link);
        return status;
      }
    }
    if (!watch_process(*link, *peer)) {
      destroy_link(link);
      return report(err, CWY_ERR_PEER_FAILED, "rank %u: process %u is gone", peer->peer.rank,
                    peer->pid);
    }
    link->conn = conn;
    conn->priv = link;
    if (link->state == LinkState::up) return CWY_OK;
    link->connect_op = op;
    link->deadline = services->now() + ep->domain->options.connect_timeout_ns;
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
  unwatch_process(link);
  if (link.purged || link.lost) {
    destroy_link(&link);
    return;
  }
  // What the peer may still send is received until it says good-bye as well.
  link.bye_due = true;
  want_attention(&link);
}

void purge(cwyc_conn* conn) {
  const Pass pass(conn->ep->domain->gate);
  if (conn->priv == nullptr) return;
  Link& link = link_of(conn);
  if (link.purged && link.pending == nullptr && link.qp == nullptr) return;
  link.purged = true;
  link.state = LinkState::failed;
  link.lost = link.reported = true;
  unwatch_process(link);
  // Ending the queue pair takes all buffers back from the device.
  end_queue_pair(link);
  // The link stays until disconnect, which follows a purge also where no connection came up; posts
  // find it failed meanwhile.
  if (cwyc_op* op = std::exchange(link.connect_op, nullptr))
    op->fn(op, CWYC_DONE_REMOTE, CWY_ERR_PEER_FAILED);
  abandon_pending(link, CWY_ERR_PEER_FAILED);
}

}  // namespace causeway::verbs
