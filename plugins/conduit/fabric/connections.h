// Reaching, joining, leaving and giving up a peer; and how two endpoints know each other.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <mutex>
#include <random>
#include <vector>

#include "../../common/guard.h"
#include "../../common/known_part.h"
#include "../../common/plugin_error.h"
#include "all_done.h"
#include "links.h"

namespace causeway::fabric {

inline uint64_t random_word() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// The first thing that a network does with a new endpoint.
template <class Ep>
void name_endpoint(Ep& ep, cwyc_domain* domain, const cwyc_ep_params& params) {
  ep.domain = domain;
  ep.params = known_part(params);
  ep.traffic.open(params.max_peers);
  ep.nonce = random_word();
}

// Lengths of frames, where the network carries messages of `largest` bytes.
template <class Ep>
void choose_frames(Ep& ep, size_t largest) {
  // Frames up to here are copied rather than sent from where they are: a copy is cheaper than a
  // second piece to fetch and a completion to wait for.
  constexpr size_t copied_frame = 2048;
  ep.medium_max = std::min<size_t>(ep.domain->options.am_medium, largest - frame_overhead);
  ep.frame_max = (frame_overhead + padded(ep.medium_max) + 63) / 64 * 64;
  ep.copy_frame = std::min(copied_frame, ep.frame_max);
}

// ---- introductions

template <class Ep>
Introduction introduce(const Ep* ep, uint32_t link, uint64_t to) {
  Introduction i{};
  i.magic = Ep::Network::wire_magic;
  i.version = wire_version;
  i.job = ep->domain->job;
  i.rank = services->job->rank;
  i.epoch = services->job->epoch;
  i.link = link;
  i.nonce = ep->nonce;
  i.to = to;
  return i;
}

template <class Ep>
bool is_sound(const Ep* ep, const Introduction& i) {
  return i.magic == Ep::Network::wire_magic && i.version == wire_version &&
         i.job == ep->domain->job && i.rank < ep->params.max_peers;
}

// The peer's name of the link, and what may be under way to it.
template <class Link>
void learn(Link& link, const Introduction& i) {
  link.remote = i.link;
  for (uint32_t lane = 0; lane < lane_count; ++lane) link.credit[lane] = i.window[lane];
}

// A link of this side's that the peer's hello repeats, that its welcome has overtaken, or else one
// that it crosses.
template <class Ep>
typename Ep::Network::Link* own_attempt(Ep* ep, const Introduction& hello) {
  auto* const known = find_by_nonce(
      ep, hello.nonce, [&](const auto& link) { return !link.purged && link.remote == hello.link; });
  if (known != nullptr) return known;
  return find_by_nonce(ep, hello.nonce, [](const auto& link) {
    return !link.purged && link.state == LinkState::connecting && link.remote == no_link;
  });
}

// ---- the end of an endpoint

// Tells every peer that nothing is received here any more, and lets what was sent leave. Bounded:
// a peer that does not listen must not hold up the end. The bound is longer than most adapters
// wait before they send a lost packet once more (ack_timeout of verbs: half a second), and than a
// peer with more processes than cores stays away: else an end in order would look like a death.
template <class Ep>
void leave_in_order(Ep* ep) {
  constexpr uint64_t patience_ns = 1'000'000'000;
  const uint64_t end = services->now() + patience_ns;
  std::vector<uint32_t> to_tell;
  for (const auto& link : ep->links)
    if (link != nullptr && !link->purged &&
        (link->state == LinkState::up || link->state == LinkState::parking))
      to_tell.push_back(link->index);
  const auto usable = [](const auto* link) {
    return link != nullptr && !link->lost && !link->purged;
  };
  while (!to_tell.empty() && services->now() < end) {
    Ep::Network::progress(ep, 64, CWYC_PROGRESS_REPLIES);
    std::erase_if(to_tell, [&](uint32_t index) {
      auto* const link = find_link(ep, index);
      return !usable(link) || send_control(*link, FrameKind::gone);
    });
  }
  auto idle = all_done(ep->links, [&usable](const auto& link) {
    return !usable(link.get()) || link->pending == nullptr;
  });
  while (!idle() && services->now() < end) Ep::Network::progress(ep, 64, CWYC_PROGRESS_REPLIES);
}

template <class Ep>
void destroy_links(Ep* ep) {
  for (auto* link : std::exchange(ep->todo, {})) link->on_todo = false;
  while (!ep->links.empty()) {
    if (ep->links.back() != nullptr) destroy_link(ep->links.back().get());
    ep->links.pop_back();
  }
  ep->holes.clear();
  ep->wanted = 0;
}

// ---- the table's part

template <class N>
struct Connections {
  using Link = typename N::Link;
  using Address = typename N::Address;
  using Ep = typename N::Endpoint;

  static cwy_status reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
    if (const cwy_status status = N::reaches(domain, peer, err); status != CWY_OK) return status;
    Address unused;
    return peer->address != nullptr ? read_address(domain, peer, unused, err) : CWY_OK;
  }

  static cwy_status connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                            cwy_err* err) {
    return guarded(err, [&]() -> cwy_status { return join_peer(ep, conn, peer, op, err); });
  }

  static void disconnect(cwyc_conn* conn) {
    Ep* const ep = conn->ep;
    const Pass pass(ep->domain->gate);
    if (conn->priv == nullptr) return;
    Link& link = *static_cast<Link*>(conn->priv);
    conn->priv = nullptr;
    link.conn = nullptr;
    link.local_closed = true;
    // The end of a lost link that nobody uses any more is no news.
    if (link.suspected) link.reported = true;
    N::left(link);
    if (link.purged) {
      destroy_link(&link);
      return;
    }
    // What the peer may still send, or has sent before the link was lost, is received.
    link.bye_due = !link.lost;
    want_attention(&link);
  }

  static void purge(cwyc_conn* conn) {
    Ep* const ep = conn->ep;
    const Pass pass(ep->domain->gate);
    if (conn->priv == nullptr) return;
    Link& link = *static_cast<Link*>(conn->priv);
    // Whatever the link was before: a newer epoch may have made it `purged` without ending
    // anything.
    link.purged = true;
    leave_connecting(link, LinkState::failed);
    link.lost = link.reported = true;
    N::purge_path(link);
    // The link stays until disconnect, which follows a purge also where no connection came up;
    // posts find it failed meanwhile.
    if (cwyc_op* op = std::exchange(link.connect_op, nullptr))
      op->fn(op, CWYC_DONE_REMOTE, CWY_ERR_PEER_FAILED, nullptr);
    abandon_pending(link, CWY_ERR_PEER_FAILED);
  }

 private:
  static cwy_status read_address(cwyc_domain* domain, const cwyc_peer_desc* peer, Address& out,
                                 cwy_err* err) {
    if (peer->address_len != sizeof out)
      return report(err, CWY_ERR_INVALID, "rank %u gave an address of %llu bytes; expected %zu",
                    peer->peer.rank, static_cast<unsigned long long>(peer->address_len),
                    sizeof out);
    std::memcpy(&out, peer->address, sizeof out);
    if (out.magic != N::wire_magic || out.version != wire_version)
      return report(err, CWY_ERR_UNREACHABLE,
                    "rank %u uses another version of this conduit; install the same one everywhere",
                    peer->peer.rank);
    return N::speaks_with(domain, peer, out, err);
  }

  // A link that the peer made, and that nobody here uses.
  static Link* usable_link(Ep* ep, cwy_peer peer, uint64_t nonce) {
    return find_by_nonce(ep, nonce, [&](const Link& link) {
      return link.peer.rank == peer.rank && link.peer.epoch == peer.epoch && N::is_usable(link) &&
             !link.purged && !link.lost && !link.local_closed && !link.remote_closed &&
             link.conn == nullptr;
    });
  }

  static cwy_status join_peer(Ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                              cwy_err* err) {
    // Not waited for: a handler that runs inside may be about to connect, and wait for the caller.
    const Pass pass(ep->domain->gate, std::try_to_lock);
    if (pass.refused()) return CWY_RETRY;
    if (peer->address == nullptr)
      return report(err, CWY_ERR_UNREACHABLE, "rank %u has no address of this conduit",
                    peer->peer.rank);
    Address address;
    cwy_status status = N::reaches(ep->domain, peer, err);
    if (status == CWY_OK) status = read_address(ep->domain, peer, address, err);
    if (status != CWY_OK) return status;
    if (!admit_epoch(ep, peer->peer))
      return report(err, CWY_ERR_PEER_FAILED, "rank %u has been replaced by a newer epoch",
                    peer->peer.rank);
    Link* link = usable_link(ep, peer->peer, address.nonce);
    if (link == nullptr) {
      link = make_link(ep, peer->peer, address.nonce);
      if (link == nullptr) return report(err, CWY_ERR_NOMEM, "too many connections");
      link->active = true;
      status = N::begin_connect(*link, address, err);
    }
    if (status >= 0) status = N::joined(*link, *peer, err);
    if (status < 0) {
      destroy_link(link);
      return status;
    }
    link->conn = conn;
    conn->priv = link;
    if (link->state == LinkState::up) return CWY_OK;
    link->connect_op = op;
    expect_answer(*link);
    return CWY_INPROGRESS;
  }
};

}  // namespace causeway::fabric
