// Opening, describing and closing an endpoint.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/signals_blocked.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint32_t most_in_flight = 4096;
constexpr uint32_t most_buffers = 16384;
constexpr uint32_t control_share = 8;  // as in pools.cpp
// Beside the receives and the signaled work requests: datagrams, and unsignaled ones that dying
// queue pairs flush.
constexpr uint32_t spare_completions = 1536;
// Frames up to here are copied rather than sent from where they are: a copy is cheaper than a
// second piece to fetch and a completion to wait for.
constexpr size_t copied_frame = 2048;

void choose_sizes(cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  const ibv_device_attr& limits = d.port.device;
  ep.medium_max = std::min<size_t>(d.options.am_medium, d.port.max_message - frame_overhead);
  ep.frame_max = (frame_overhead + padded(ep.medium_max) + 63) / 64 * 64;
  ep.copy_frame = std::min(copied_frame, ep.frame_max);
  // A copied payload and the frame of its message share a place.
  ep.bounce_bytes =
      (std::max<size_t>(ep.frame_max, d.options.copy_below + frame_overhead) + 79) / 64 * 64;
  // Fewer credits per peer in large jobs: the receive buffers of all peers stay below a bound.
  const uint64_t peers = std::max(ep.params.max_peers, 2u);
  const uint64_t automatic = std::clamp<uint64_t>(1024 / peers, 8, 32);
  ep.window = static_cast<uint32_t>(
      std::max<uint64_t>(d.options.credits != 0 ? d.options.credits : automatic, 2));
  uint64_t buffers = d.options.receive_buffers;
  if (buffers == 0)
    buffers = std::clamp<uint64_t>(4 * peers * (2 * ep.window + control_share), 512, most_buffers);
  const auto in_queue = static_cast<uint64_t>(std::max(limits.max_cqe, 1024));
  ep.in_flight_max = static_cast<uint32_t>(std::min<uint64_t>(most_in_flight, in_queue / 4));
  // In a short queue the datagrams come before the receive buffers: they cannot be done without.
  const uint64_t spare = std::max<uint64_t>(std::min<uint64_t>(spare_completions, in_queue / 4),
                                            datagram_completions(&ep));
  buffers = std::min(buffers, in_queue - in_queue / 4 - spare);
  ep.buffers_max =
      static_cast<uint32_t>(std::min(buffers, static_cast<uint64_t>(limits.max_srq_wr)));
  ep.signal_every = std::max(d.tx_depth / 4, 1u);
}

bool add_to_epoll(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

int open_queues(cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  ibv_context* context = d.port.context.get();
  ep.channel.reset(ibv_create_comp_channel(context));
  if (ep.channel == nullptr) return errno;
  fcntl(ep.channel->fd, F_SETFL, fcntl(ep.channel->fd, F_GETFL) | O_NONBLOCK);
  const int entries = static_cast<int>(
      std::min<uint64_t>(uint64_t{ep.buffers_max} + ep.in_flight_max + spare_completions,
                         static_cast<uint64_t>(std::max(d.port.device.max_cqe, 1024))));
  ep.cq.reset(ibv_create_cq(context, entries, nullptr, ep.channel.get(), 0));
  if (ep.cq == nullptr) return errno;
  // Whatever the device gave: with none left over, everything is signaled.
  const uint32_t others = ep.buffers_max + ep.in_flight_max + datagram_completions(&ep);
  const auto given = static_cast<uint32_t>(ep.cq->cqe);
  ep.unsignaled_max = given - std::min(given, others);
  ibv_srq_init_attr shared{};
  shared.attr.max_wr = ep.buffers_max;
  shared.attr.max_sge = 1;
  ep.srq.reset(ibv_create_srq(d.pd.get(), &shared));
  return ep.srq == nullptr ? errno : make_datagram(&ep);
}

int open_descriptors(cwyc_ep& ep) {
  ep.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  ep.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (ep.timer < 0 || ep.epoll < 0) return errno;
  const bool good = add_to_epoll(ep.epoll, ep.channel->fd) && add_to_epoll(ep.epoll, ep.timer) &&
                    add_to_epoll(ep.epoll, ep.domain->port.context->async_fd);
  return good ? 0 : errno;
}

void close_descriptors(cwyc_ep& ep) {
  if (ep.epoll >= 0) close(ep.epoll);
  if (ep.timer >= 0) close(ep.timer);
  ep.epoll = ep.timer = -1;
}

void fill_address(cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  Address& a = ep.address;
  a.magic = wire_magic;
  a.version = fabric::wire_version;
  a.lid = d.port.lid;
  std::memcpy(a.gid, d.port.gid.raw, sizeof a.gid);
  a.nonce = ep.nonce;
  a.qpn = ep.datagram->qp_num;
  a.pid_namespace = d.pid_namespace;
  a.network = d.port.network;
  a.mtu = static_cast<uint8_t>(d.port.mtu);
  a.rd_atomic = d.rd_atomic;
}

}  // namespace

cwy_status Conduit::ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const Pass pass(domain->gate);
    const SignalsBlocked blocked;
    auto ep = std::make_unique<cwyc_ep>();
    name_endpoint(*ep, domain, *params);
    domain->gate.raise(params->multithreaded != 0);
    choose_sizes(*ep);
    ep->slabs = std::make_unique<fabric::Slabs<Network>>(domain);
    int error = open_queues(*ep);
    if (error == 0) error = open_descriptors(*ep);
    if (error != 0) {
      close_descriptors(*ep);
      const bool memory = error == ENOMEM || error == EAGAIN;
      return report(err, memory ? CWY_ERR_NOMEM : CWY_ERR_UNREACHABLE,
                    "%s cannot open an endpoint: %s%s", domain->port.name.c_str(),
                    std::strerror(error), memory ? memlock_advice().c_str() : "");
    }
    fill_address(*ep);
    domain->eps.push_back(ep.get());
    *out = ep.release();
    return CWY_OK;
  });
}

void Conduit::ep_close(cwyc_ep* ep) {
  cwyc_domain* domain = ep->domain;
  const Pass pass(domain->gate);
  leave_in_order(ep);
  destroy_links(ep);
  ep->datagram.reset();  // the device lets go of datagrams
  for (Ticket* ticket : ep->datagrams) end_datagram(ep, ticket);
  ep->srq.reset();
  close_descriptors(*ep);
  ep->cq.reset();
  ep->channel.reset();
  std::erase(domain->eps, ep);
  delete ep;
}

cwy_status Conduit::ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwyc_domain& d = *ep->domain;
  cwyc_ep_attr a = fabric::describe(
      *ep, CWYC_CAP_AM_LONG | CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_CHECK | CWYC_CAP_MEM_REG |
               CWYC_CAP_ORDER_PUT_AM | CWYC_CAP_WAIT_FD | CWYC_CAP_AUTO_PROGRESS);
  if (d.options.peer_timeout_ns != 0) a.caps |= CWYC_CAP_PEER_FAILURE;
  a.put_small_max = std::max<size_t>(d.inline_max, 64);
  a.rma_max = d.port.max_message;
  a.am_long_max = std::min<uint64_t>(a.rma_max, UINT32_MAX);
  a.outstanding_max = 0;
  a.mem_forms = CWY_FORM_HOST_VA | (d.dmabuf ? CWY_FORM_DMABUF : 0);
  const bool seen_by_processors = d.port.device.atomic_cap == IBV_ATOMIC_GLOB;
  if ((a.caps & CWYC_CAP_ATOMIC) != 0 && seen_by_processors) a.caps |= CWYC_CAP_ATOMIC_CPU;
  a.latency_ns = d.port.software ? 20000 : 1200;
  a.bandwidth_bps = d.port.software ? 1e9 : d.port.bytes_per_second;
  return give_attributes(a, attr);
}

void Network::more_stats(const cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  fn(arg, "datagrams", ep->hellos);
  fn(arg, "probes", ep->probes);
}

}  // namespace causeway::verbs
