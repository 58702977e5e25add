// What no completion announces: processes of this host that died, peers that fell silent, and what
// the device says of itself.
#include <utility>

#include "calls.h"

namespace causeway::verbs {
namespace {

constexpr uint64_t look_interval_ns = 50'000'000;

uint32_t look_at_processes(cwyc_ep* ep) {
  uint32_t events = 0;
  ep->processes.each_ended<Link>([&events](Link& link) {
    // Its good-bye may be among what has not been read; by the next look that has been.
    if (!std::exchange(link.ended, true)) return;
    lose_link(link, "its process has ended");
    ++events;
  });
  return events;
}

// Idle connections are asked for a sign of life: an empty write, which the peer's device answers
// without its process. Without an answer the queue pair fails.
void ask_silent_peers(cwyc_ep* ep) {
  for (const auto& link : ep->links) {
    if (link == nullptr || link->state != LinkState::up || link->purged) continue;
    const bool quiet = !std::exchange(link->used_since_look, false);
    if (!quiet || link->probing || link->local_closed) continue;
    if (probe(*link) == CWY_INPROGRESS) link->probing = true;
    link->used_since_look = false;
  }
}

void tell_state(cwyc_domain* domain, uint32_t state, const char* why) {
  for (const cwyc_ep* ep : domain->eps)
    services->device_state(ep->params.core_ep, domain->port.name.c_str(), state, why);
}

void on_device_event(cwyc_domain* domain, const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      for (cwyc_ep* ep : domain->eps)
        if (Link* link = link_of_queue_pair(ep, event.element.qp->qp_num))
          lose_link(*link, ibv_event_type_str(event.event_type));
      return;
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
      fail_device(domain, ibv_event_type_str(event.event_type));
      return;
    case IBV_EVENT_PORT_ERR:
      if (event.element.port_num == domain->port.number)
        tell_state(domain, CWYC_DEVICE_DOWN,
                   "its port has no link; peers count as failed when it does not come back soon");
      return;
    case IBV_EVENT_PORT_ACTIVE:
      if (event.element.port_num == domain->port.number)
        tell_state(domain, CWYC_DEVICE_UP, "its port is active");
      return;
    default:
      return;
  }
}

}  // namespace

void look_at_device(cwyc_domain* domain) {
  ibv_async_event event;
  while (ibv_get_async_event(domain->port.context.get(), &event) == 0) {
    on_device_event(domain, event);
    ibv_ack_async_event(&event);
  }
}

void fail_device(cwyc_domain* domain, const char* what) {
  if (domain->failed) return;
  domain->failed = true;
  domain->failure = "device " + domain->port.name + " failed: " + what;
  log(CWY_LOG_ERROR, "%s; nobody is reached over it any more", domain->failure.c_str());
  tell_state(domain, CWYC_DEVICE_DOWN, what);
  for (cwyc_ep* ep : domain->eps) {
    // The core hears of connects that end so, and may begin another one.
    for (size_t i = 0; i < ep->links.size(); ++i) {
      Link* const link = ep->links[i].get();
      if (link == nullptr) continue;
      lose_link(*link, domain->failure.c_str());
      end_queue_pair(*link);
      abandon_pending(*link, CWY_ERR_DEVICE_FAILED);
    }
  }
}

bool watch_process(Link& link, const cwyc_peer_desc& peer) {
  if (link.process) return true;
  if (!fabric::watch_process(link, peer, link.ep->domain->pid_namespace, link.to.pid_namespace))
    return false;
  if (!link.process) return true;
  cwyc_ep* const ep = link.ep;
  if (ep->processes.add(link.process, &link))
    add_to_epoll(ep->epoll, ep->processes.descriptor().get());  // from the second on it is there
  else
    link.process = Descriptor();  // others tell of its end
  return true;
}

void unwatch_process(Link& link) {
  if (link.process) link.ep->processes.remove(link.process);
}

uint32_t look_around(cwyc_ep* ep) {
  const uint64_t now = services->now();
  if (now < ep->next_look) return 0;
  ep->next_look = now + look_interval_ns;
  look_at_device(ep->domain);
  uint32_t events = 0;
  if (!ep->processes.empty()) events += look_at_processes(ep);
  const uint64_t timeout = ep->domain->options.peer_timeout_ns;
  if (timeout != 0 && now >= ep->next_probe) {
    ep->next_probe = now + timeout / 4;
    ask_silent_peers(ep);
  }
  return events;
}

cwy_status probe(Link& link) {
  const cwy_status status = Network::may_post(link, 1);
  if (status != CWY_OK) return status;
  Ticket* ticket = take_ticket(link.ep);
  if (ticket == nullptr) return CWY_RETRY;
  ticket->work = Work::probe;
  ticket->report = 0;
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  const cwy_status posted = post(link, &request, &request, 1, ticket);
  if (posted != CWY_OK) return posted;
  ++link.ep->probes;
  return CWY_INPROGRESS;
}

}  // namespace causeway::verbs
