// Which peers can be reached.
#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {

cwy_status Network::speaks_with(const cwyc_domain* domain, const cwyc_peer_desc* peer,
                                const Address& to, cwy_err* err) {
  const Port& port = domain->port;
  if (to.network == port.network) return CWY_OK;
  return report(err, CWY_ERR_UNREACHABLE,
                "rank %u speaks %s, this rank %s on %s; choose with device or gid_index",
                peer->peer.rank, network_text(to.network), network_text(port.network),
                port.name.c_str());
}

cwy_status Network::reaches(const cwyc_domain* domain, const cwyc_peer_desc*, cwy_err* err) {
  if (!domain->failed) return CWY_OK;
  return report(err, CWY_ERR_UNREACHABLE, "device %s has failed", domain->port.name.c_str());
}

// One that the peer is about to make as well.
bool Network::is_usable(const Link& link) {
  return link.state != LinkState::failed;
}

cwy_status Network::joined(Link& link, const cwyc_peer_desc& peer, cwy_err* err) {
  if (watch_process(link, peer)) return CWY_OK;
  return report(err, CWY_ERR_PEER_FAILED, "rank %u: process %u is gone", peer.peer.rank, peer.pid);
}

}  // namespace causeway::verbs
