// Which peers can be reached.
#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::ofi {

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

// One whose connection request is still under way may yet be refused.
bool Network::is_usable(const Link& link) {
  return link.state == LinkState::up;
}

}  // namespace causeway::ofi
