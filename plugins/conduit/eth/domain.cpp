// Opening the network, and what may be reached over it.
#include <cstring>

#include "../../common/plugin_error.h"
#include "../common/cpu_atomics.h"
#include "calls.h"

namespace causeway::eth {
namespace {

std::string names_of(const std::vector<Interface>& all) {
  std::string text;
  for (const Interface& i : all)
    text += (text.empty() ? "" : ", ") + i.name + "/" + text_of(i.place);
  return text;
}

bool leads_away(const Interface& i) {
  return !i.loopback;
}

// The peer's loopback interface is this process's, too.
bool is_here(const cwyc_domain& domain, const cwyc_peer_desc& peer, const Address& address) {
  return peer.same_host != 0 || (address.stack != 0 && address.stack == domain.stack);
}

}  // namespace

cwy_status Network::open_domain(cwyc_domain& d, const cwyc_domain_params& params, cwy_err* err) {
  d.stack = network_stack();
  d.interfaces = find_interfaces();
  const std::string known = names_of(d.interfaces);
  if (*params.device != '\0') {
    d.named = true;
    keep_named(d.interfaces, params.device);
    if (d.interfaces.empty())
      return report(err, CWY_ERR_INVALID, "no interface or address %s is up; there are %s",
                    params.device, known.c_str());
  }
  if (d.interfaces.empty())
    return report(err, CWY_ERR_UNREACHABLE, "no network interface is up, not even loopback");
  if (d.options.atomics != fabric::Native::never) cpu_atomics::declare(d.atomic_ops);
  d.leases = std::make_unique<Leases>(&d, fabric::Caching::in_flight, Leases::Bounds{0, 0});
  log(CWY_LOG_INFO, "interfaces, the first one first: %s", names_of(d.interfaces).c_str());
  return CWY_OK;
}

cwy_status Network::reaches(const cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  const auto& all = domain->interfaces;
  Address address{};
  if (peer->address != nullptr && peer->address_len == sizeof address)
    std::memcpy(&address, peer->address, sizeof address);
  if (is_here(*domain, *peer, address) || std::ranges::any_of(all, leads_away)) return CWY_OK;
  return report(err, CWY_ERR_UNREACHABLE,
                domain->named ? "the device that is named reaches this host only; name another one"
                              : "this host has no interface but loopback");
}

// Places that lead a peer of another host nowhere, or back here, are left out: networks of
// containers have the same addresses everywhere.
static void leave_outward(const cwyc_domain& domain, Address& to) {
  const uint32_t outward = to.count - to.loopback;
  to.count = to.loopback = 0;
  for (uint32_t n = 0; n < outward; ++n) {
    const Place place = to.places[n];
    const auto is_it = [&](const Interface& i) { return same(i.place, place); };
    if (std::ranges::any_of(domain.interfaces, is_it)) continue;
    to.prefix[to.count] = to.prefix[n];
    to.places[to.count++] = place;
  }
}

cwy_status Network::speaks_with(const cwyc_domain* domain, const cwyc_peer_desc* peer, Address& to,
                                cwy_err* err) {
  if (to.count > most_places || to.loopback > to.count)
    return report(err, CWY_ERR_UNREACHABLE, "rank %u gave an address that cannot be read",
                  peer->peer.rank);
  const bool away = !is_here(*domain, *peer, to), none_outward = to.loopback == to.count;
  if (away) leave_outward(*domain, to);
  for (uint32_t n = 0; n < to.count; ++n) {
    for (const Interface& i : domain->interfaces)
      if (is_v4(i.place) == is_v4(to.places[n])) return CWY_OK;
  }
  return report(err, CWY_ERR_UNREACHABLE, "rank %u %s", peer->peer.rank,
                none_outward && away
                    ? "listens on its loopback interface only; name a device for it"
                    : "has no address of a family that this rank has, and that leads to it");
}

cwy_status Network::register_segment(cwyc_domain* domain, const cwy_memref& ref, cwyc_mem& mem,
                                     cwy_err* err) {
  if (ref.form != CWY_FORM_HOST_VA || ref.kind_class != CWY_MEM_HOST)
    return report(err, CWY_ERR_UNSUPPORTED, "sockets read and write host memory only");
  mem.rkey = {ref.addr, ref.length, domain->next_key++, 1};
  return CWY_OK;
}

cwyc_rkey Network::rkey_of(const RkeyBlob& blob) {
  return {blob.base, blob.length, blob.key, blob.host == 1};
}

// Answers out of that memory, and puts that are just being written to it, end here.
void Conduit::mem_release(cwyc_domain* domain, cwyc_mem* mem) {
  if (mem == nullptr) return;
  const Pass pass(domain->gate);
  const RkeyBlob& gone = mem->rkey;
  for (cwyc_ep* ep : domain->eps) {
    for (const auto& link : ep->links) {
      if (link == nullptr) continue;
      save_segments(*link, gone.base, gone.length);
      Inbox& in = link->in;
      const bool theirs = in.placing && in.unit.kind != UnitKind::answer && in.to != nullptr;
      if (theirs && in.unit.key == gone.key) in.to = nullptr;
    }
  }
  Engine::mem_release(domain, mem);
}

}  // namespace causeway::eth
