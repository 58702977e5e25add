// Opening, describing and closing an endpoint.
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../common/plugin_error.h"
#include "../common/open_files.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

constexpr uint64_t most_in_flight = 4096, largest_queue = 64 << 10;
constexpr size_t largest_inject = 4096;  // a frame is put together on the stack

// Frames of a lane that the provider's queue has buffers for, whoever of the peers sends. A queue
// that datagrams of all of them come by is theirs together; others grow, or are a link's own.
uint64_t frames_for_each(const cwyc_ep& ep, uint64_t peers) {
  const Path& path = ep.domain->path;
  const uint64_t places = path.info->rx_attr->size;
  if (path.msg || ep.shared_buffers || places == 0) return UINT64_MAX;
  const uint64_t share = (places - std::min<uint64_t>(places, hello_buffers)) / peers;
  return (share - std::min<uint64_t>(share, control_buffers)) / lane_count;
}

void choose_sizes(cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  const fi_info& info = *d.path.info;
  choose_frames(ep, info.ep_attr->max_msg_size - 8);
  ep.inject_max = std::min<size_t>({info.tx_attr->inject_size, d.options.inject, largest_inject});
  ep.bounce_bytes = ep.frame_max + frame_overhead;
  // A credit is a frame, or a KiB of one where many frames share a buffer; so no lane ever has more
  // frames under way than credits, which is what the provider's own queues must take. Fewer per
  // peer in large jobs: the receive buffers of all peers together stay below a bound.
  const uint64_t peers = std::max(ep.params.max_peers, 2u);
  const uint64_t automatic = d.path.local_mr ? std::clamp<uint64_t>(1024 / peers, 8, 32)
                                             : std::clamp<uint64_t>(4096 / peers, 16, 128);
  const uint64_t wished = d.options.credits != 0 ? d.options.credits : automatic;
  ep.shared_buffers = d.path.multi_receive;
  const uint64_t frames = std::min(wished, frames_for_each(ep, peers));
  // A buffer of many frames is given back when the next one may not fit.
  ep.buffer_bytes =
      ep.shared_buffers ? std::max(d.options.multi_receive_bytes, 4 * ep.frame_max) : ep.frame_max;
  // Some answers must get through while the peer is busy elsewhere and returns no credit.
  const uint64_t least =
      ep.shared_buffers ? 4 * ((ep.frame_max + credit_unit - 1) / credit_unit) : 8;
  ep.window[request_lane] = ep.window[reply_lane] =
      static_cast<uint32_t>(std::min<uint64_t>(std::max(frames, least), UINT16_MAX));
  // Half of a queue that the configuration sizes: receptions come into it too.
  const uint64_t named = d.options.cq_size;
  ep.in_flight_max =
      static_cast<uint32_t>(named == 0 ? most_in_flight : std::max<uint64_t>(named / 2, 8));
}

// Software's queues grow, so the provider's own size does (0). An adapter's do not, and how large
// its own would be is not told: there it is what may be outstanding, our operations and every
// peer's messages.
uint64_t queue_size(const cwyc_ep& ep) {
  const cwyc_domain& d = *ep.domain;
  if (d.options.cq_size != 0 || !d.path.local_mr) return d.options.cq_size;
  const uint64_t each = ep.window[request_lane] + ep.window[reply_lane] + control_buffers;
  return std::min(most_in_flight + each * ep.params.max_peers, largest_queue);
}

// A queue of the wished kind, or of the provider's own size where the wish is too large.
int open_queue(cwyc_ep& ep, fi_wait_obj wait) {
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_DATA;
  attr.wait_obj = wait;
  attr.size = queue_size(ep);
  fid_cq* cq = nullptr;
  int error = fi_cq_open(ep.domain->domain.get(), &attr, &cq, &ep);
  if (error != 0 && error != -FI_ENOSYS) {
    attr.size = 0;
    error = fi_cq_open(ep.domain->domain.get(), &attr, &cq, &ep);
  }
  ep.cq.reset(cq);
  return error;
}

int open_event_queue(cwyc_ep& ep, fi_wait_obj wait) {
  fi_eq_attr attr{};
  attr.wait_obj = wait;
  fid_eq* eq = nullptr;
  const int error = fi_eq_open(ep.domain->fabric.get(), &attr, &eq, &ep);
  ep.eq.reset(eq);
  return error;
}

bool wakes(const Descriptor& epoll, fid_t queue) {
  int fd = -1;
  return fi_control(queue, FI_GETWAIT, &fd) == 0 && add_to_epoll(epoll, fd);
}

// A descriptor makes every look at a software provider's queue dearer, since each arrival is
// signalled. It pays where ranks must let others have the processor.
bool wants_descriptor(const cwyc_ep& ep) {
  const Wait wait = ep.domain->options.wait;
  if (wait != Wait::automatic) return wait == Wait::always;
  return services->job->local_count > services->job->cpu_count;
}

int open_queues(cwyc_ep& ep) {
  const bool msg = ep.domain->path.msg;
  if (wants_descriptor(ep)) {
    int error = open_queue(ep, FI_WAIT_FD);
    if (error == 0 && msg) error = open_event_queue(ep, FI_WAIT_FD);
    if (error == 0) {
      ep.epoll = Descriptor(epoll_create1(EPOLL_CLOEXEC));
      if (ep.epoll && wakes(ep.epoll, &ep.cq->fid) && (!msg || wakes(ep.epoll, &ep.eq->fid)))
        return 0;
      ep.epoll = Descriptor();
    }
    ep.eq.reset();
    ep.cq.reset();
  }
  const int error = open_queue(ep, FI_WAIT_NONE);
  return error == 0 && msg ? open_event_queue(ep, FI_WAIT_NONE) : error;
}

// libfabric's shm names the object of an endpoint after the process id. One that a killed process
// left behind is then in the way of a later process that happens to get the same id: "device or
// resource busy". With a name of its own that cannot happen, and the job's at its front lets
// whoever started the job remove what a killed rank left.
void name_shared_object(const cwyc_ep& ep, fi_info& info) {
  const cwy_job& job = *services->job;
  char name[128];
  std::snprintf(name, sizeof name, "fi_shm://%.63s.ofi.%u.%016llx",
                job.job_id != nullptr ? job.job_id : "", job.rank,
                static_cast<unsigned long long>(ep.nonce));
  for (char* c = name + std::strlen("fi_shm://"); *c != '\0'; ++c)
    if (*c == '/' || *c == ':') *c = '_';
  std::free(info.src_addr);
  info.src_addr = strdup(name);
  info.src_addrlen = info.src_addr != nullptr ? std::strlen(name) + 1 : 0;
  info.addr_format = FI_ADDR_STR;
}

// A buffer of many frames is to come back when the largest may not fit any more.
void bound_buffers(const cwyc_ep& ep, fid_t endpoint) {
  size_t least = ep.frame_max;
  if (ep.shared_buffers)
    fi_setopt(endpoint, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
}

int open_datagram(cwyc_ep& ep) {
  const Info own(fi_dupinfo(ep.domain->path.info.get()));
  fi_info* info = own.get();
  if (info == nullptr) return -FI_ENOMEM;
  if (ep.domain->path.provider == "shm") name_shared_object(ep, *info);
  fi_av_attr attr{};
  attr.type = FI_AV_TABLE;
  attr.count = ep.params.max_peers;
  fid_av* av = nullptr;
  int error = fi_av_open(ep.domain->domain.get(), &attr, &av, nullptr);
  if (error != 0) {
    attr.type = FI_AV_UNSPEC;
    error = fi_av_open(ep.domain->domain.get(), &attr, &av, nullptr);
  }
  ep.av.reset(av);
  fid_ep* endpoint = nullptr;
  if (error == 0) error = fi_endpoint(ep.domain->domain.get(), info, &endpoint, nullptr);
  ep.datagram.reset(endpoint);
  if (error == 0) error = fi_ep_bind(endpoint, &av->fid, 0);
  if (error == 0) error = fi_ep_bind(endpoint, &ep.cq->fid, FI_TRANSMIT | FI_RECV);
  // libfabric 2.1 looks at the option while it enables; before that the `shm` of 1.17 has nowhere
  // to keep it and crashes.
  const bool early = ep.domain->path.provider != "shm" || fi_version() >= FI_VERSION(2, 0);
  if (error == 0 && early) bound_buffers(ep, &endpoint->fid);
  if (error == 0) error = fi_enable(endpoint);
  if (error == 0) bound_buffers(ep, &endpoint->fid);
  return error;
}

int open_passive(cwyc_ep& ep) {
  fi_info* info = ep.domain->path.info.get();
  int error = 0;
  if (ep.domain->path.shared_receive) {
    fid_ep* srx = nullptr;
    error = fi_srx_context(ep.domain->domain.get(), info->rx_attr, &srx, nullptr);
    ep.srx.reset(srx);
    if (error == 0) bound_buffers(ep, &srx->fid);
  }
  fid_pep* passive = nullptr;
  if (error == 0) error = fi_passive_ep(ep.domain->fabric.get(), info, &passive, nullptr);
  ep.passive.reset(passive);
  if (error == 0) error = fi_pep_bind(passive, &ep.eq->fid, 0);
  return error == 0 ? fi_listen(passive) : error;
}

int fill_address(cwyc_ep& ep) {
  const Path& path = ep.domain->path;
  Address& a = ep.address;
  a.magic = wire_magic;
  a.version = fabric::wire_version;
  a.msg = path.msg ? 1 : 0;
  a.loopback = path.loopback ? 1 : 0;
  a.nonce = ep.nonce;
  a.pid_namespace = pid_namespace();
  std::strncpy(a.provider, path.provider.c_str(), sizeof a.provider - 1);
  size_t length = sizeof a.bytes;
  const int error = fi_getname(path.msg ? &ep.passive->fid : &ep.datagram->fid, a.bytes, &length);
  a.length = static_cast<uint16_t>(length);
  return error;
}

// FI_MR_ENDPOINT: an endpoint with registrations bound to it cannot be closed (cxi), and buffers in
// the provider's hands may not lose theirs. So it gives back all of them first. Bounded: what the
// provider keeps all the same does not hold up the end.
void close_registrations(cwyc_ep* ep) {
  constexpr uint64_t patience_ns = 100'000'000;
  const uint64_t end = services->now() + patience_ns;
  for (ReceiveBuffer* buffer : ep->buffers)
    if (!buffer->released) fi_cancel(&ep->datagram->fid, &buffer->ticket);
  const auto held = [](const ReceiveBuffer* buffer) { return !buffer->released; };
  while (std::any_of(ep->buffers.begin(), ep->buffers.end(), held) && services->now() < end)
    Network::progress(ep, 64, CWYC_PROGRESS_REPLIES);
  ep->domain->leases->clear();
  ep->slabs->unregister();
}

// libfabric 2.1's shm unmaps the memory of an endpoint that is closed, and touches it where another
// endpoint of the process forgets the address later: so the others forget it first.
void leave_neighbours(const cwyc_ep* ep) {
  for (const cwyc_ep* other : ep->domain->eps) {
    const auto [first, end] = other->by_nonce.equal_range(ep->nonce);
    for (auto at = first; at != end; ++at) {
      Link& link = *at->second;
      link.remote_closed = true;  // in order
      lose_link(link, "its endpoint was closed");
      abandon_pending(link, CWY_ERR_PEER_FAILED);
      Network::end_path(link);
      link.endpoint = nullptr;
    }
  }
}

}  // namespace

cwy_status Network::open_endpoint(cwyc_ep& ep, cwy_err* err) {
  const Path& path = ep.domain->path;
  if (path.endpoint_mr && !ep.domain->eps.empty())
    return report(
        err, CWY_ERR_UNSUPPORTED,
        "provider %s binds registrations to one endpoint; a second one needs a conduit of "
        "its own",
        path.provider.c_str());
  choose_sizes(ep);
  int error = open_queues(ep);
  if (error == 0) error = path.msg ? open_passive(ep) : open_datagram(ep);
  if (error == 0) error = fill_address(ep);
  if (error == 0) return CWY_OK;
  // Over tcp an endpoint takes seven.
  if (const std::string files = complaint_of_open_files(8); !files.empty())
    return report(err, CWY_ERR_NOMEM, "provider %s on %s cannot open an endpoint: %s",
                  path.provider.c_str(), path.device.c_str(), files.c_str());
  return report(err, CWY_ERR_UNREACHABLE, "provider %s on %s cannot open an endpoint: %s%s",
                path.provider.c_str(), path.device.c_str(), fi_strerror(-error),
                complaint_of_shared_memory(path.provider).c_str());
}

void Network::endpoint_opened(cwyc_ep* ep) {
  cwyc_domain* const domain = ep->domain;
  if (domain->eps.size() == 1 && domain->path.atomics && domain->can_put)
    find_atomics(domain, ep->datagram.get());
  // Hellos of peers that this side never heard of need a place before anything else does.
  if (!domain->path.msg) want_buffers(ep, nullptr, ep->shared_buffers ? 2 : hello_buffers);
}

void Network::close_endpoint(cwyc_ep* ep) {
  if (ep->domain->path.endpoint_mr) close_registrations(ep);
  if (ep->domain->path.host_only) leave_neighbours(ep);
}

void Network::describe(const cwyc_ep& ep, cwyc_ep_attr& a) {
  const cwyc_domain& d = *ep.domain;
  const fi_info& info = *d.path.info;
  if (d.can_put) a.caps |= CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_MEM_REG;
  if (d.can_put && d.path.order_send_after_write)
    a.caps |= CWYC_CAP_AM_LONG | CWYC_CAP_ORDER_PUT_AM;
  if (ep.epoll) a.caps |= CWYC_CAP_WAIT_FD;
  if (d.path.msg) a.caps |= CWYC_CAP_PEER_FAILURE;
  const uint64_t longest = std::min<uint64_t>(info.ep_attr->max_msg_size, UINT64_MAX / 2);
  a.rma_max = d.delivery_complete ? longest : std::min(longest, d.path.ordered_write);
  if ((a.caps & CWYC_CAP_AM_LONG) != 0) a.am_long_max = std::min<uint64_t>(longest, UINT32_MAX);
  if (d.options.hmem && (info.caps & FI_HMEM) != 0) a.mem_forms |= CWY_FORM_DEVICE_VA;
  const bool tcp = d.path.provider.starts_with("tcp");
  a.speed = tcp ? 1'250'000'000 : 12'500'000'000;
}

}  // namespace causeway::ofi
