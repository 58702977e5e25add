// What the engine asks of this network's links: how they are moved on and ended, and where they can
// lead.
#include <algorithm>

#include "../../common/plugin_error.h"
#include "calls.h"

namespace causeway::verbs {

void Network::retired(Link& link, const Ticket& ticket) {
  link.ep->in_flight -= ticket.own;
  link.ep->unsignaled -= ticket.slots - ticket.own;
}

void Network::path_lost(Link& link) {
  unwatch_process(link);
  // Its operations end now, not after the last retransmission.
  if (link.state != LinkState::connecting) stop_queue_pair(link);
}

void Network::end_path(Link& link) {
  purge_path(link);
  withdraw_buffers(link);
}

// Ending the queue pair takes all buffers back from the device.
void Network::purge_path(Link& link) {
  unwatch_process(link);
  end_queue_pair(link);
}

void Network::left(Link& link) {
  unwatch_process(link);
}

void wait_for_answer(Link& link, uint64_t now) {
  constexpr uint64_t first_gap = 10'000'000, longest_gap = 500'000'000;
  link.hello_gap = std::clamp(2 * link.hello_gap, first_gap, longest_gap);
  link.next_hello = now + link.hello_gap;
}

// The connecting side repeats its hello.
uint32_t Network::push_connecting(Link& link, uint64_t now) {
  tell_silence(link, now);
  if (!link.active || now < link.next_hello) return 0;
  wait_for_answer(link, now);
  send_hello(link, step_hello);
  return 0;
}

bool Network::push_path(Link& link) {
  if (link.state == LinkState::up && link.ready_due)
    link.ready_due = !send_control(link, FrameKind::ready);
  return link.ready_due;
}

// ---- which peers can be reached

cwy_status Network::speaks_with(const cwyc_domain* domain, const cwyc_peer_desc* peer, Address& to,
                                cwy_err* err) {
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
  // A link that the peer asked for, and whose first frame has not come: the peer may compute, and
  // the welcome waits there. A hello, which goes out when no frame comes soon, is answered.
  if (link.state == LinkState::connecting && !link.active) {
    link.active = true;
    wait_for_answer(link, services->now());
  }
  if (watch_process(link, peer)) return CWY_OK;
  return report(err, CWY_ERR_PEER_FAILED, "rank %u: process %u is gone", peer.peer.rank, peer.pid);
}

}  // namespace causeway::verbs
