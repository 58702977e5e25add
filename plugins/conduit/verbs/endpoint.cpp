// Opening, describing and closing an endpoint.
#include <fcntl.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint32_t most_in_flight = 4096;
constexpr uint32_t most_buffers = 16384;
// Beside the receives and the signaled work requests: unsignaled ones that dying queue pairs flush.
constexpr uint32_t spare_completions = 1536;

void choose_sizes(cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  const ibv_device_attr& limits = d.port.device;
  choose_frames(ep, d.port.max_message);
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
    buffers =
        std::clamp<uint64_t>(4 * peers * (2 * ep.window + control_buffers), 512, most_buffers);
  const auto in_queue = static_cast<uint64_t>(std::max(limits.max_cqe, 1024));
  ep.in_flight_max = static_cast<uint32_t>(std::min<uint64_t>(most_in_flight, in_queue / 4));
  const uint64_t spare = std::min<uint64_t>(spare_completions, in_queue / 4);
  buffers = std::min(buffers, in_queue - in_queue / 4 - spare);
  ep.buffers_max =
      static_cast<uint32_t>(std::min(buffers, static_cast<uint64_t>(limits.max_srq_wr)));
  ep.signal_every = std::max(d.tx_depth / 4, 1u);
}

// A queue of completions and what announces them. 0, or errno.
int open_queue(ibv_context* context, int entries, Owned<ibv_comp_channel>& channel,
               Owned<ibv_cq>& cq) {
  channel.reset(ibv_create_comp_channel(context));
  if (channel == nullptr) return errno;
  fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  cq.reset(ibv_create_cq(context, entries, nullptr, channel.get(), 0));
  return cq == nullptr ? errno : 0;
}

int open_queues(cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  ibv_context* context = d.port.context.get();
  const int entries = static_cast<int>(
      std::min<uint64_t>(uint64_t{ep.buffers_max} + ep.in_flight_max + spare_completions,
                         static_cast<uint64_t>(std::max(d.port.device.max_cqe, 1024))));
  int error = open_queue(context, entries, ep.channel, ep.cq);
  if (error == 0)
    error = open_queue(context, static_cast<int>(datagram_completions(&ep)), ep.datagram_channel,
                       ep.datagram_cq);
  if (error != 0) return error;
  // Whatever the device gave: with none left over, everything is signaled.
  const uint32_t others = ep.buffers_max + ep.in_flight_max;
  const auto given = static_cast<uint32_t>(ep.cq->cqe);
  ep.unsignaled_max = given - std::min(given, others);
  ibv_srq_init_attr shared{};
  shared.attr.max_wr = ep.buffers_max;
  shared.attr.max_sge = 1;
  ep.srq.reset(ibv_create_srq(d.pd.get(), &shared));
  return ep.srq == nullptr ? errno : make_datagram(&ep);
}

int open_descriptors(cwyc_ep& ep) {
  ep.timer = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  ep.epoll = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!ep.timer || !ep.epoll) return errno;
  const bool good = add_to_epoll(ep.epoll, ep.channel->fd) &&
                    add_to_epoll(ep.epoll, ep.datagram_channel->fd) &&
                    add_to_epoll(ep.epoll, ep.timer.get()) &&
                    add_to_epoll(ep.epoll, ep.domain->port.context->async_fd);
  return good ? 0 : errno;
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

cwy_status Network::open_endpoint(cwyc_ep& ep, cwy_err* err) {
  choose_sizes(ep);
  int error = open_queues(ep);
  if (error == 0) error = open_descriptors(ep);
  if (error != 0) {
    const bool memory = error == ENOMEM || error == EAGAIN;
    return report(err, memory ? CWY_ERR_NOMEM : CWY_ERR_UNREACHABLE,
                  "%s cannot open an endpoint: %s%s", ep.domain->port.name.c_str(),
                  std::strerror(error), memory ? memlock_advice().c_str() : "");
  }
  fill_address(ep);
  return CWY_OK;
}

void Network::endpoint_opened(cwyc_ep* ep) {
  if (ep->domain->options.first_contact != FirstContact::thread) return;
  auto greeter = std::make_unique<Greeter>(ep);
  if (greeter->runs()) ep->greeter = std::move(greeter);
}

void Network::close_endpoint(cwyc_ep* ep) {
  ep->greeter.reset();
  ep->datagram.reset();  // the device lets go of datagrams
  for (Ticket* ticket : ep->datagrams) free_datagram(ep, ticket);
}

void Network::describe(const cwyc_ep& ep, cwyc_ep_attr& a) {
  const cwyc_domain& d = *ep.domain;
  a.caps |= CWYC_CAP_AM_LONG | CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_MEM_REG |
            CWYC_CAP_ORDER_PUT_AM | CWYC_CAP_WAIT_FD;
  if (d.options.peer_timeout_ns != 0) a.caps |= CWYC_CAP_PEER_FAILURE;
  a.rma_max = d.port.max_message;
  a.am_long_max = std::min<uint64_t>(a.rma_max, UINT32_MAX);
  if (d.dmabuf) a.mem_forms |= CWY_FORM_DMABUF;
  const bool seen_by_processors = d.port.device.atomic_cap == IBV_ATOMIC_GLOB;
  if ((a.caps & CWYC_CAP_ATOMIC) != 0 && seen_by_processors) a.caps |= CWYC_CAP_ATOMIC_CPU;
  a.speed = d.port.software ? 1'250'000'000 : d.port.bytes_per_second;
}

void Network::more_stats(const cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  fn(arg, "datagrams", ep->hellos);
  fn(arg, "probes", ep->probes);
}

}  // namespace causeway::verbs
