// How links come up: a connection request with its acceptance, or a hello with its welcome.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "../../common/plugin_error.h"
#include "../common/open_files.h"
#include "../common/signals_blocked.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

Introduction hello_of(const Link& link) {
  Introduction hello = introduce(link.ep, link.index, link.nonce);
  for (uint32_t lane = 0; lane < lane_count; ++lane)
    hello.window[lane] = static_cast<uint16_t>(link.ep->window[lane]);
  return hello;
}

// Receive buffers for everything that the peer may have under way.
void provide_buffers(Link& link) {
  cwyc_ep* ep = link.ep;
  if (link.buffers != 0) return;
  link.owed_limit = std::max(1u, ep->window[0] / 2);
  if (ep->shared_buffers) {
    // Buffers of many frames: enough of them that one can be drained while others fill.
    const uint64_t bytes = uint64_t{credit_unit} * (ep->window[0] + ep->window[1]);
    const uint64_t each = ep->buffer_bytes - ep->frame_max;  // the rest may stay empty
    want_buffers(ep, &link, static_cast<uint32_t>((bytes + each - 1) / each));
    return;
  }
  want_buffers(ep, &link, ep->window[0] + ep->window[1] + control_buffers);
}

cwy_status open_connected(Link& link, fi_info* info) {
  cwyc_ep* ep = link.ep;
  const SignalsBlocked blocked;
  fid_ep* endpoint = nullptr;
  int error = fi_endpoint(ep->domain->domain.get(), info, &endpoint, nullptr);
  link.own.reset(endpoint);
  if (error == 0) error = fi_ep_bind(endpoint, &ep->eq->fid, 0);
  if (error == 0) error = fi_ep_bind(endpoint, &ep->cq->fid, FI_TRANSMIT | FI_RECV);
  if (error == 0 && ep->srx != nullptr) error = fi_ep_bind(endpoint, &ep->srx->fid, 0);
  if (error == 0) error = fi_enable(endpoint);
  if (error != 0) {
    link.own.reset();
    return error == -FI_ENOMEM ? CWY_ERR_NOMEM : CWY_ERR_UNREACHABLE;
  }
  ep->by_fid[&endpoint->fid] = &link;
  link.endpoint = endpoint;
  return CWY_OK;
}

fi_addr_t insert_address(cwyc_ep* ep, const void* bytes) {
  fi_addr_t address = FI_ADDR_UNSPEC;
  if (fi_av_insert(ep->av.get(), bytes, 1, &address, 0, nullptr) != 1) return FI_ADDR_UNSPEC;
  ++ep->address_users[address];
  return address;
}

// A link for a peer's hello; NULL: it cannot be answered.
Link* answer(cwyc_ep* ep, const Introduction& hello, const Address& to) {
  if (to.length == 0 || to.length > longest_address) return nullptr;
  Link* link = make_link(ep, {hello.rank, hello.epoch}, hello.nonce);
  if (link == nullptr) return nullptr;
  link->endpoint = ep->datagram.get();
  link->address = insert_address(ep, to.bytes);
  if (link->address == FI_ADDR_UNSPEC) {
    destroy_link(link);
    return nullptr;
  }
  provide_buffers(*link);
  return link;
}

void reject(cwyc_ep* ep, fi_info* info) {
  fi_reject(ep->passive.get(), info->handle, nullptr, 0);
  ep->counters.dropped.add(1);
}

void on_request(cwyc_ep* ep, fi_info* info, const void* data, size_t length) {
  const std::unique_ptr<fi_info, FreeInfo> owner(info);
  Introduction hello;
  if (length < sizeof hello) return reject(ep, info);
  std::memcpy(&hello, data, sizeof hello);
  const cwy_peer peer{hello.rank, hello.epoch};
  if (!is_sound(ep, hello) || hello.to != ep->nonce || !admit_epoch(ep, peer))
    return reject(ep, info);
  Link* link = make_link(ep, peer, hello.nonce);
  if (link == nullptr) return reject(ep, info);
  learn(*link, hello);
  if (open_connected(*link, info) != CWY_OK) {
    reject(ep, info);
    destroy_link(link);
    return;
  }
  provide_buffers(*link);
  const Introduction answer = hello_of(*link);
  if (fi_accept(link->endpoint, &answer, sizeof answer) != 0) destroy_link(link);
}

void on_connected(Link& link, const void* data, size_t length) {
  if (link.active) {
    Introduction hello;
    if (length >= sizeof hello) std::memcpy(&hello, data, sizeof hello);
    if (length < sizeof hello || !is_sound(link.ep, hello)) {
      lose_link(link, "the peer answered with strange bytes");
      return;
    }
    learn(link, hello);
  }
  finish_connect(link, CWY_OK);
}

// The link of an event; NULL when it has gone meanwhile.
Link* link_of_event(cwyc_ep* ep, fid_t fid) {
  const auto at = ep->by_fid.find(fid);
  return at != ep->by_fid.end() ? at->second : nullptr;
}

// False: there is none after all; the next pass asks again.
bool on_event_error(cwyc_ep* ep) {
  fi_eq_err_entry error{};
  if (fi_eq_readerr(ep->eq.get(), &error, 0) <= 0) return false;
  ep->counters.errors.add(1);
  Link* link = link_of_event(ep, error.fid);
  if (link != nullptr) lose_link(*link, fi_strerror(error.err));
  return true;
}

}  // namespace

// A hello carries the way back, because the peer may never have heard of this side.
bool send_hello(Link& link, FrameKind kind) {
  struct {
    Introduction hello;
    Address address;
  } words{hello_of(link), link.ep->address};
  const size_t length = kind == FrameKind::hello ? sizeof words : sizeof words.hello;
  return send_control(link, kind, &words, length);
}

cwy_status Network::begin_connect(Link& link, const Address& to, cwy_err* err) {
  cwyc_ep* ep = link.ep;
  if (!ep->domain->path.msg) {
    link.address = insert_address(ep, to.bytes);
    if (link.address == FI_ADDR_UNSPEC)
      return report(err, CWY_ERR_UNREACHABLE, "rank %u: the provider does not take its address",
                    link.peer.rank);
    link.endpoint = ep->datagram.get();
    provide_buffers(link);
    link.hello_due = !send_hello(link, FrameKind::hello);
    if (link.lost)
      return report(err, CWY_ERR_UNREACHABLE, "rank %u cannot be spoken to: %s", link.peer.rank,
                    link.why);
    want_attention(&link);
    return CWY_INPROGRESS;
  }
  const Info info(fi_dupinfo(ep->domain->path.info.get()));
  if (!info) return report(err, CWY_ERR_NOMEM, "no memory to connect");
  info->dest_addr = std::malloc(to.length);
  if (info->dest_addr == nullptr) return report(err, CWY_ERR_NOMEM, "no memory to connect");
  std::memcpy(info->dest_addr, to.bytes, to.length);
  info->dest_addrlen = to.length;
  const cwy_status status = open_connected(link, info.get());
  if (status != CWY_OK) {
    const std::string files = complaint_of_open_files();
    return report(err, files.empty() ? status : CWY_ERR_NOMEM,
                  "provider %s cannot make an endpoint: %s", ep->domain->path.provider.c_str(),
                  files.empty() ? "it does not say why" : files.c_str());
  }
  provide_buffers(link);
  const Introduction hello = hello_of(link);
  const int error = fi_connect(link.endpoint, to.bytes, &hello, sizeof hello);
  if (error != 0)
    return report(err, CWY_ERR_UNREACHABLE, "rank %u cannot be connected to: %s", link.peer.rank,
                  fi_strerror(-error));
  want_attention(&link);
  return CWY_INPROGRESS;
}

uint32_t connection_events(cwyc_ep* ep) {
  uint32_t events = 0;
  for (;; ++events) {
    alignas(fi_eq_cm_entry) char buffer[sizeof(fi_eq_cm_entry) + 256];
    uint32_t event = 0;
    const ssize_t got = fi_eq_read(ep->eq.get(), &event, buffer, sizeof buffer, 0);
    if (got == -FI_EAVAIL) {
      if (!on_event_error(ep)) return events;
      continue;
    }
    if (got < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return events;
    const auto* entry = reinterpret_cast<const fi_eq_cm_entry*>(buffer);
    const size_t length = static_cast<size_t>(got) - sizeof(fi_eq_cm_entry);
    if (event == FI_CONNREQ) {
      on_request(ep, entry->info, entry->data, length);
      continue;
    }
    Link* link = link_of_event(ep, entry->fid);
    if (link == nullptr) continue;
    if (event == FI_CONNECTED) on_connected(*link, entry->data, length);
    if (event == FI_SHUTDOWN) lose_link(*link, "the connection was closed by the peer");
  }
}

uint32_t Network::on_greeting(cwyc_ep* ep, const FrameHeader& header, const char* payload) {
  Introduction hello;
  Address address;
  const bool first = header.kind == FrameKind::hello;
  // Connected endpoints introduce themselves with their requests.
  const bool expected =
      !ep->domain->path.msg && header.length >= sizeof hello + (first ? sizeof address : 0);
  if (expected) std::memcpy(&hello, payload, sizeof hello);
  if (!expected || !is_sound(ep, hello) || hello.to != ep->nonce ||
      !admit_epoch(ep, {hello.rank, hello.epoch})) {
    ep->counters.dropped.add(1);
    return expected ? 1 : 0;
  }
  Link* link = first ? own_attempt(ep, hello) : find_link(ep, header.link);
  if (!first && (link == nullptr || link->nonce != hello.nonce)) return 1;
  if (link == nullptr) {
    std::memcpy(&address, payload + sizeof hello, sizeof address);
    link = answer(ep, hello, address);
    if (link == nullptr) return 1;
  }
  if (link->state == LinkState::connecting) {
    learn(*link, hello);
    link->process = Descriptor();
    finish_connect(*link, CWY_OK);
  }
  if (first) link->welcome_due = !send_hello(*link, FrameKind::welcome);
  if (link->welcome_due) want_attention(link);
  return 1;
}

}  // namespace causeway::ofi
