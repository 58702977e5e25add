// Links to peers: made, parked, broken, closed.
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "../common/open_files.h"
#include "endpoint.h"
#include "guard.h"
#include "services.h"

namespace causeway::ucx {
namespace {

// Local work only: bounds that are never met unless UCX is at a loss.
constexpr uint64_t purge_limit_ns = 500'000'000;
constexpr uint64_t wiring_limit_ns = 500'000'000;
// A close of a connection whose peer has gone first ends with the last retransmission, which takes
// seconds over RDMA; destroying a worker before that makes UCX 1.13 abort.
constexpr uint64_t close_limit_ns = 10'000'000'000;
constexpr int drain_polls = 1000;
// A peer that does not listen must not hold up the end.
constexpr uint64_t leave_limit_ns = 5'000'000'000;

struct ReadAddress {
  EndpointAddress header;
  std::string worker;
};

cwy_status read_address(const cwyc_peer_desc* peer, ReadAddress& out, cwy_err* err) {
  if (peer->address_len >= sizeof out.header) {
    std::memcpy(&out.header, peer->address, sizeof out.header);
    if (out.header.magic == wire_magic &&
        peer->address_len == sizeof out.header + out.header.worker_length) {
      out.worker.assign(static_cast<const char*>(peer->address) + sizeof out.header,
                        out.header.worker_length);
      return CWY_OK;
    }
  }
  return report(err, CWY_ERR_UNREACHABLE,
                "rank %u gave no address of this version of the conduit; install the same one "
                "everywhere",
                peer->peer.rank);
}

void peer_broke(void* arg, ucp_ep_h, ucs_status_t status) {
  Link& link = *static_cast<Link*>(arg);
  link.broken = true;
  ++link.owner->depth;
  link_failed(link, ucs_status_string(status));
  --link.owner->depth;
}

ucs_status_t create(Link& link) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(link.address.data());
  params.err_mode = link.notices_failure ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  params.err_handler.cb = peer_broke;
  params.err_handler.arg = &link;
  return ucp_ep_create(link.owner->worker, &params, &link.ep);
}

// Does the peer's process id mean something here?
bool is_visible(const cwyc_ep* ep, const cwyc_peer_desc* peer, const EndpointAddress& address) {
  return peer->same_host != 0 && address.pid_namespace == ep->domain->pid_namespace &&
         address.pid_namespace != 0;
}

void drop(cwyc_ep* ep, const Link* link) {
  std::erase(ep->dirty, link);
  auto at = ep->by_rank.find(link->peer.rank);
  while (at->second != link) ++at;  // those of a rank stand together
  ep->by_rank.erase(at);
  --ep->failures;
  std::erase_if(ep->links, [&](const auto& l) { return l.get() == link; });
}

// Drops failed links of which UCX knows nothing any more. Links that it knows stay.
void drop_finished(cwyc_ep* ep) {
  if (ep->failures == 0) return;
  std::vector<Link*> finished;
  for (auto& link : ep->links)
    if (link->failed && link->conn == nullptr && link->ep == nullptr && link->pending.size() == 0)
      finished.push_back(link.get());
  for (const Link* link : finished) drop(ep, link);
}

Link* find_parked(cwyc_ep* ep, cwy_peer peer, const std::string& address) {
  Link* parked = nullptr;
  for_each_link_to(ep, peer.rank, [&](Link& link) {
    const bool fits = link.peer.epoch == peer.epoch && link.address == address;
    if (fits && link.conn == nullptr && !link.failed) parked = &link;
  });
  return parked;
}

cwy_status make(cwyc_ep* ep, const cwyc_peer_desc* peer, const ReadAddress& address, Link** out,
                cwy_err* err) {
  auto owned = std::make_unique<Link>();
  Link& link = *owned;
  link.owner = ep;
  link.peer = peer->peer;
  link.address = address.worker;
  const bool visible = is_visible(ep, peer, address.header);
  // UCX may use shared memory, which it does without peer-failure mode only. Both ends decide
  // alike: host, PID namespace and configuration are what they have in common.
  const bool shared = visible && ep->domain->shared_memory;
  link.notices_failure = !shared;
  // Over RDMA a death is noticed after the last retransmission only, and UCX 1.13 aborts if by then
  // its introduction has not been answered. Over TCP it aborts if it has the introduction sent to a
  // peer that has just gone: watched until there was an answer.
  if (visible && peer->same_process == 0 && !watch_process(link, peer->pid)) {
    if (errno == ESRCH)
      return report(err, CWY_ERR_PEER_FAILED, "rank %u: process %u is gone", peer->peer.rank,
                    peer->pid);
    if (shared)
      return report(
          err, CWY_ERR_UNREACHABLE,
          "rank %u: process %u cannot be watched (%s), and UCX does not notice over shared "
          "memory when it dies; set tls to transports of the network only",
          peer->peer.rank, peer->pid, std::strerror(errno));
  }
  // UCX 1.13 aborts where it opens a second interface of a link and cannot.
  if (const std::string files = complaint_of_open_files(4); !files.empty())
    return report(err, CWY_ERR_NOMEM, "UCX opens up to four files for rank %u: %s", peer->peer.rank,
                  files.c_str());
  link.introducing = bool(link.process) && link.notices_failure && ep->domain->over_tcp;
  ep->introducing += link.introducing ? 1 : 0;
  forget_complaint();
  const ucs_status_t status = create(link);
  if (status != UCS_OK)
    return report(err, CWY_ERR_UNREACHABLE, "UCX has no way to rank %u: %s%s", peer->peer.rank,
                  explain(status).c_str(), lack_of_room(*ep->domain).c_str());
  *out = &link;
  ep->by_rank.emplace(link.peer.rank, &link);
  ep->links.push_back(std::move(owned));
  return CWY_OK;
}

void mark_failed(Link& link) {
  if (!std::exchange(link.failed, true)) ++link.owner->failures;
}

// UCX 1.13 aborts the process (ucp_request.c:684, "got REQ message"; 1.14 does not) where it closes
// by force an endpoint whose introduction to the peer still waits to be sent. Over TCP that goes
// out at once, over RDMA when the peer's UCX has answered a datagram, for which it has a thread.
bool may_be_forced(const Link& link) {
  return link.wired || link.broken || link.owner->domain->over_tcp;
}

// Begins to close the UCX endpoint; `link.ep` is NULL when that is over.
void begin_close(Link& link, bool force) {
  if (link.ep == nullptr || link.closing || (force && !may_be_forced(link))) return;
  Slot* slot = link.owner->slots.take();
  if (slot == nullptr) return;
  slot->link = &link;
  slot->kind = SlotKind::close;
  link.closing = true;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = force ? +UCP_EP_CLOSE_FLAG_FORCE : 0u;
  param.cb.send = close_done;
  param.user_data = slot;
  const ucs_status_ptr_t answer = ucp_ep_close_nbx(link.ep, &param);
  if (answer != nullptr && !UCS_PTR_IS_ERR(answer)) {
    accepted(link, slot, answer);
    link.close_request = answer;
    return;
  }
  link.ep = nullptr;
  link.owner->slots.give(slot);
}

// Earlier processes of a rank that have left or died: nothing comes of them any more. Without
// failure mode UCX keeps an endpoint of which it has something that nobody reads.
void retire_before(cwyc_ep* ep, cwy_peer newer) {
  for_each_link_to(ep, newer.rank, [&](Link& link) {
    if (link.conn != nullptr || link.peer.epoch == newer.epoch) return;
    if (!link.failed && !link.farewell) return;
    mark_failed(link);
    begin_close(link, link.notices_failure);
  });
}

template <class Done>
void progress_until(cwyc_ep* ep, uint64_t limit_ns, Done&& done) {
  const uint64_t end = services->now() + limit_ns;
  if (!ep->late.empty()) finish_late(ep);
  while (!done()) {
    if (ep->introducing != 0) close_unanswered(ep);
    if (ucp_worker_progress(ep->worker) != 0) continue;
    if (services->now() > end) return;
    ::sched_yield();
  }
}

// Where a connection ends while the peer's answer to its introduction is under way, UCX 1.13 aborts
// the peer (ucp_request.c:684, "got REP message"). The answer to a farewell comes behind that one;
// so that is waited for. Peers that have gone are found failed.
void take_leave(cwyc_ep* ep) {
  for (auto& link : ep->links)
    if (!link->failed) send_farewell(*link);
  progress_until(ep, leave_limit_ns, [ep] {
    return std::ranges::all_of(ep->links, [](const auto& link) {
      return link->failed || link->answered || !link->notices_failure;
    });
  });
}

// Over shared memory a peer that has left or died reads no more, and UCX does not notice.
bool has_closed(const Link& link) {
  return link.ep == nullptr || !link.closing ||
         (!link.notices_failure && (link.farewell || link.failed));
}

}  // namespace

void link_failed(Link& link, const char* why) {
  mark_failed(link);
  if (link.conn == nullptr) return;
  connection(link.conn).ep = nullptr;
  if (link.reported || link.farewell) return;
  link.reported = true;
  if (link.owner->params.core_ep != nullptr)
    conduit::tell_peer_state(link.owner->params, link.peer, CWY_PEER_FAILED, why);
}

void close_unanswered(cwyc_ep* ep) {
  for (auto& link : ep->links) {
    if (awaits_answer(*link) && has_ended(link->process)) {
      process_is_gone(*link);
      begin_close(*link, true);
    }
    if (link->introducing && !awaits_answer(*link)) watch_no_more(*link);
  }
}

cwy_status Conduit::reach(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err) {
  if (domain->only_shared_memory && peer->same_host == 0)
    return report(err, CWY_ERR_UNREACHABLE,
                  "rank %u runs on host %s, and UCX may use shared memory only (option tls)",
                  peer->peer.rank, peer->hostname != nullptr ? peer->hostname : "(unknown)");
  if (peer->address == nullptr) return CWY_OK;
  ReadAddress address;
  return read_address(peer, address, err);
}

cwy_status Conduit::connect(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op*,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    ReadAddress address;
    cwy_status status = reach(ep->domain, peer, err);
    if (status == CWY_OK) status = read_address(peer, address, err);
    if (status != CWY_OK) return status;
    if (peer->peer.rank >= ep->newest_epoch.size())
      return report(err, CWY_ERR_INVALID, "rank %u is beyond the %zu ranks of the job",
                    peer->peer.rank, ep->newest_epoch.size());
    retire_before(ep, peer->peer);
    drop_finished(ep);
    Link* link = find_parked(ep, peer->peer, address.worker);
    if (link == nullptr) status = make(ep, peer, address, &link, err);
    if (status != CWY_OK) return status;
    uint32_t& newest = ep->newest_epoch[peer->peer.rank];
    newest = std::max(newest, peer->peer.epoch & epoch_mask);
    ep->linked_epoch[peer->peer.rank] = peer->peer.epoch & epoch_mask;
    link->conn = conn;
    connection(conn) = {link, link->ep};
    return CWY_OK;
  });
}

void Conduit::disconnect(cwyc_conn* conn) {
  Connection& c = connection(conn);
  if (c.link == nullptr) return;
  const SignalsBlocked blocked;
  Link& link = *c.link;
  link.conn = nullptr;
  c = {nullptr, nullptr};
  if (link.failed && link.notices_failure) begin_close(link, true);
  drop_finished(conn->ep);
}

void Conduit::purge(cwyc_conn* conn) {
  Connection& c = connection(conn);
  if (c.link == nullptr) return;
  const SignalsBlocked blocked;
  Link& link = *c.link;
  cwyc_ep* ep = conn->ep;
  const bool outside = ep->depth == 0;
  // Ends behind the introductions, with a connection or with its failure; or is given up.
  const bool wiring = outside && link.notices_failure && !may_be_forced(link) &&
                      flush_alone(link) == CWY_INPROGRESS;
  c.ep = nullptr;
  mark_failed(link);
  link.reported = true;
  if (outside) {
    const bool held = std::exchange(ep->hold_all, true);
    if (wiring)
      progress_until(ep, wiring_limit_ns,
                     [&] { return may_be_forced(link) || link.pending.size() == 0; });
    if (link.notices_failure) {
      // UCX ends what is under way and takes its hands off the buffers. What it has not begun to
      // send to a peer that never answered stays with it.
      begin_close(link, true);
      progress_until(ep, purge_limit_ns, [&] {
        return !link.closing || link.pending.size() == 0 || link.ep == nullptr;
      });
    } else {
      // Messages that the dead peer had sent are taken in; more cannot come, and nobody reads what
      // is queued.
      for (int i = 0; i < drain_polls && ucp_worker_progress(ep->worker) != 0; ++i) {
      }
    }
    ep->hold_all = held;
  }
  abandon(link);
}

bool close_links(cwyc_ep* ep) {
  ep->closing = true;
  take_leave(ep);
  for (auto& link : ep->links)
    if (!link->failed)
      begin_close(*link, false);
    else if (link->notices_failure)
      begin_close(*link, true);
  progress_until(ep, close_limit_ns, [&] {
    check_processes(ep);
    return std::ranges::all_of(ep->links, [](const auto& link) { return has_closed(*link); });
  });
  // UCX aborts where it destroys a worker with a close under way that has not been given back.
  for (auto& link : ep->links)
    if (void* request = std::exchange(link->close_request, nullptr)) ucp_request_free(request);
  return std::ranges::all_of(ep->links, [](const auto& link) {
    return link->ep == nullptr || !link->notices_failure || may_be_forced(*link);
  });
}

// ---- keys to peers' memory --------------------------------------------------------------------

cwy_status Conduit::rkey_open(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf,
                              uint64_t len, cwyc_rkey** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    RkeyHeader header{};
    if (len >= sizeof header) std::memcpy(&header, buf, sizeof header);
    const char* const key = static_cast<const char*>(buf) + sizeof header;
    if (header.magic != wire_magic || len != sizeof header + header.ucx_length ||
        header.sum != sum_of_key(header, key))
      return report(err, CWY_ERR_INVALID, "rank %u sent no key of this conduit (%llu bytes)",
                    peer->peer.rank, static_cast<unsigned long long>(len));
    auto rkey = std::make_unique<cwyc_rkey>();
    rkey->ep = ep;
    rkey->peer = peer->peer;
    rkey->base = header.base;
    rkey->length = header.length;
    rkey->host_memory = header.host_memory != 0;
    rkey->packed.assign(key, header.ucx_length);
    rkey->object = header.object;
    *out = rkey.release();
    return CWY_OK;
  });
}

cwy_status Conduit::rkey_direct(cwyc_rkey* rkey, intptr_t* delta) {
  cwy_status status = CWY_ERR_UNSUPPORTED;  // not connected
  for_each_link_to(rkey->ep, rkey->peer.rank, [&](Link& link) {
    if (link.conn == nullptr || link.failed || link.peer.epoch != rkey->peer.epoch) return;
    if (unpack(link, *rkey) != CWY_OK || !rkey->mapped) return;
    *delta = static_cast<intptr_t>(rkey->delta);
    status = CWY_OK;
  });
  return status;
}

// ucp_rkey_destroy hands the key's memory back to a pool of the worker, which UCX guards for
// workers of UCS_THREAD_MODE_MULTI only. This call does not count as being inside the endpoint.
void Conduit::rkey_close(cwyc_ep* ep, cwyc_rkey* rkey) {
  if (rkey == nullptr) return;
  if (rkey->key == nullptr) {
    delete rkey;
    return;
  }
  ep->closed_keys.push(rkey);
}

void destroy_closed_keys(cwyc_ep* ep) {
  ep->closed_keys.take_all([](HandedBack::Link* link) {
    auto* const rkey = static_cast<cwyc_rkey*>(link);
    ucp_rkey_destroy(rkey->key);
    delete rkey;
  });
}

}  // namespace causeway::ucx
