// Opening, describing and closing an endpoint.
#include <algorithm>

#include "../../common/plugin_error.h"
#include "cables.h"
#include "calls.h"

namespace causeway::eth {
namespace {

// Messages that have left a closing endpoint may take so long to arrive.
constexpr uint64_t patience_ns = 1'000'000'000;

void choose_sizes(cwyc_ep& ep) {
  constexpr size_t least_chunk = 128 << 10;
  choose_frames(ep, size_t{64} << 20);
  ep.bounce_bytes = ep.frame_max + frame_overhead;
  ep.chunk_bytes = std::max(least_chunk, (2 * ep.bounce_bytes + 4095) / 4096 * 4096);
  // TCP bounds what is on the wire; credit bounds the requests that wait in memory while only
  // replies are wanted.
  const uint64_t peers = std::max(ep.params.max_peers, 2u);
  const uint64_t wished = ep.domain->options.credits;
  const uint64_t automatic = std::clamp<uint64_t>(4096 / peers, 16, 128);
  ep.window = static_cast<uint32_t>(std::max<uint64_t>(wished != 0 ? wished : automatic, 8));
  ep.in_flight_max = 16384;
  choose_most_sockets(ep);
}

// As many places as there is room for; this host's own come last, and one of them always.
void fill_address(cwyc_ep& ep) {
  Address& a = ep.address;
  a.magic = wire_magic;
  a.version = fabric::wire_version;
  a.nonce = ep.nonce;
  a.stack = ep.domain->stack;
  const auto& all = ep.domain->interfaces;
  const auto own = static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [](const Interface& i) { return i.loopback; }));
  const size_t outward = std::min<size_t>(all.size() - own, most_places - (own != 0 ? 1 : 0));
  for (size_t i = 0; i < all.size() && a.count < most_places; ++i) {
    if (!all[i].loopback && i >= outward) continue;
    a.prefix[a.count] = all[i].prefix;
    a.places[a.count++] = all[i].place;
    if (all[i].loopback) ++a.loopback;
  }
}

}  // namespace

cwy_status Network::open_endpoint(cwyc_ep& ep, cwy_err* err) {
  choose_sizes(ep);
  ep.epoll = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!ep.epoll)
    return report(err, CWY_ERR_NOMEM, "no descriptor for epoll: the limit of open files?");
  if (const cwy_status status = open_listener(ep, err); status != CWY_OK) return status;
  fill_address(ep);
  ep.cables = watch_cables();
  if (ep.cables) watch(&ep, EPOLL_CTL_ADD, ep.cables.get(), EPOLLIN, name_of(Source::cables, 0));
  return CWY_OK;
}

void Network::describe(const cwyc_ep&, cwyc_ep_attr& a) {
  a.caps |= CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_VECTOR | CWYC_CAP_MEM_REG | CWYC_CAP_AM_LONG |
            CWYC_CAP_ORDER_PUT_AM | CWYC_CAP_WAIT_FD | CWYC_CAP_PEER_FAILURE | CWYC_CAP_ATOMIC_CPU;
  a.rma_max = a.am_long_max = longest_transfer;
  a.iov_max = Conduit::most_pieces;
  a.speed = 1'250'000'000;  // 10 Gbit/s
}

void Network::more_stats(const cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  fn(arg, "sends", ep->sends);
  fn(arg, "receives", ep->receives);
  fn(arg, "blocked", ep->blocked);
  fn(arg, "parked", ep->parked);
  fn(arg, "datagrams", ep->datagrams.sent);
  fn(arg, "given_up", ep->datagrams.given_up);
}

void Conduit::ep_close(cwyc_ep* ep) {
  ep->closes_at = services->now() + patience_ns;
  Engine::ep_close(ep);
}

}  // namespace causeway::eth
