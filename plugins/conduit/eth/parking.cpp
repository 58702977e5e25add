// Connections that are quiet are closed when descriptors run short, and come back with their next
// use. The links stay, with their names: only the streams go.
//
// The side that is short asks over the stream. Nothing of its own is under way then, and whatever
// it sends behind the question takes that back. The other side, where nothing is under way either,
// says yes and sends nothing behind it. The side that asked closes the stream if it has neither
// sent nor heard anything since; otherwise it sends an acknowledgement, which tells the other side
// that the stream stays. So both have read all that the other sent, and the accounts of
// credit and acknowledgements go on over the next stream. Where both ask at once, the question of
// the smaller nonce counts.
#include <sys/resource.h>

#include <algorithm>

#include "calls.h"

namespace causeway::eth {
namespace {

constexpr uint64_t least_sockets = 8;
// Peers that compute answer nothing: after so long two connections more are opened, while the
// process has descriptors.
constexpr uint64_t answer_ns = 100'000'000;
constexpr uint32_t asked_at_once = 4, looks_at_once = 256;
constexpr uint64_t ask_every_ns = 1'000'000;

size_t taken(const cwyc_ep* ep) {
  return ep->sockets + ep->newcomers.size();
}

// Nothing is under way that this side knows of. A handler that has yet to reply, or a frame that
// waits for its delivery, is no matter: what is sent later opens the stream again.
bool is_quiet(const Link& link) {
  const bool leaves = !link.out.empty() || link.datagrams.under_way();
  const bool sends = link.pending != nullptr || leaves || link.reserved != 0;
  const bool owes = link.told != link.done || link.part_refused || link.bye_due;
  const bool hears = link.in.head != link.in.tail || link.in.placing;
  const bool ends = link.purged || link.local_closed || link.remote_closed;
  return link.socket && !sends && !owes && !hears && !ends;
}

void say(Link& link, ParkStep step) {
  Unit unit{};
  unit.kind = UnitKind::park;
  unit.count = step;
  stage_unit(link, unit);
  push(link, true);
}

// Links that the hand finds unused since it last came by are asked. A process that talks to itself
// has nothing to gain.
void ask_quiet_links(cwyc_ep* ep) {
  const uint64_t now = services->now();
  if (now < ep->next_ask) return;
  ep->next_ask = now + ask_every_ns;
  uint32_t asked = 0;
  size_t looks = std::min<size_t>(2 * ep->links.size(), looks_at_once);
  for (; looks != 0 && asked < asked_at_once; --looks) {
    ep->hand = (ep->hand + 1) % ep->links.size();
    Link* const link = ep->links[ep->hand].get();
    if (link == nullptr || link->state != LinkState::up || link->nonce == ep->nonce) continue;
    if (link->asked || !is_quiet(*link) || std::exchange(link->used, false)) continue;
    link->state = LinkState::parking;
    link->asked = true;
    say(*link, park_ask);
    ++asked;
  }
}

bool on_ask(Link& link) {
  if (link.state == LinkState::parking && !link.asked) return false;
  if (link.asked && link.ep->nonce < link.nonce) return true;
  if (std::exchange(link.asked, false)) stay_up(link);
  const bool quiet = link.state == LinkState::up && is_quiet(link);
  if (quiet) link.state = LinkState::parking;
  say(link, quiet ? park_yes : park_no);
  return true;
}

bool on_answer(Link& link, bool yes) {
  if (!std::exchange(link.asked, false)) return false;
  if (yes && link.state == LinkState::parking && is_quiet(link)) {
    park(link);
    return true;
  }
  stay_up(link);
  if (!yes) return true;
  stage_ack(link);
  push(link, true);
  return true;
}

}  // namespace

void choose_most_sockets(cwyc_ep& ep) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  ep.bound = limit.rlim_cur / 8 * 7;
  const uint64_t wished = ep.domain->options.connections;
  ep.datagrams.most_sockets = ep.domain->options.datagrams ? limit.rlim_cur / 16 : 0;
  ep.most_sockets = std::max(wished != 0 ? wished : limit.rlim_cur / 4 * 3, least_sockets);
}

// Own attempts leave a quarter to what others ask: ranks that all wait for each other go on.
bool may_open(cwyc_ep* ep, Opening opening) {
  const size_t most = ep->most_sockets - (opening == Opening::own ? ep->most_sockets / 4 : 0);
  uint64_t& since = ep->short_since[static_cast<int>(opening)];
  if (taken(ep) < most) {
    since = 0;
    return true;
  }
  ask_quiet_links(ep);
  const uint64_t now = services->now();
  if (since == 0) since = now;
  if (now - since > answer_ns && ep->most_sockets < ep->bound) {
    ep->most_sockets += 2;
    since = now;
  }
  return false;
}

bool make_do(cwyc_ep* ep) {
  if (give_back_sockets(ep)) return true;
  if (ep->sockets == 0) return false;
  ask_quiet_links(ep);
  ep->most_sockets = std::min(ep->most_sockets, std::max(taken(ep), least_sockets));
  return true;
}

bool on_park(Link& link, uint32_t step) {
  return step == park_ask ? on_ask(link) : on_answer(link, step == park_yes);
}

void park(Link& link) {
  close_path(link);
  link.state = LinkState::parked;
  link.asked = false;
  ++link.ep->parked;
  if (link.ep->accepts_at != 0) link.ep->accepts_at = 1;  // with this pass
  want_attention(&link);                                  // the core may have left meanwhile
}

void stay_up(Link& link) {
  link.state = LinkState::up;
  want_attention(&link);
}

void unpark(Link& link) {
  link.state = LinkState::connecting;
  ++link.ep->connecting;
  link.hello_sent = false;
  link.attempt_began = 0;
  expect_answer(link);
}

cwy_status may_send_later(Link& link) {
  if (link.state == LinkState::failed) return CWY_ERR_PEER_FAILED;
  if (link.state == LinkState::parking && link.asked) {
    stay_up(link);
    return CWY_OK;
  }
  if (link.state != LinkState::parked) return CWY_RETRY;
  unpark(link);
  if (Network::begin_connect(link, link.to, nullptr) < 0) lose_link(link, link.why);
  return CWY_RETRY;
}

cwy_status Network::joined(Link& link, const cwyc_peer_desc& peer, cwy_err* err) {
  std::memcpy(&link.to, peer.address, sizeof link.to);
  const cwy_status speaks = speaks_with(link.ep->domain, &peer, link.to, err);
  if (speaks != CWY_OK || link.state != LinkState::parked) return speaks;
  unpark(link);
  const cwy_status connects = begin_connect(link, link.to, err);
  return connects < 0 ? connects : CWY_OK;
}

}  // namespace causeway::eth
