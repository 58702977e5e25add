// Puts and gets.
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "calls.h"

namespace causeway::ofi {
namespace {

// Where an operation's local bytes are, as the provider wants them.
struct Local {
  void* data;
  void* desc = nullptr;
  Bounce* bounce = nullptr;
  Lease* lease = nullptr;
};

void let_go(cwyc_ep* ep, const Local& local) {
  if (local.bounce != nullptr) give_back_bounce(ep, local.bounce);
  if (local.lease != nullptr) give_back_lease(ep->domain, local.lease);
}

// No registration and nothing left to copy through: said once, since the caller cannot.
cwy_status cannot_register(const cwyc_ep* ep, size_t length, int error) {
  if (!std::exchange(ep->domain->told_memory, true))
    log(CWY_LOG_ERROR, "provider %s cannot register a buffer of %zu bytes: %s; see ulimit -l",
        ep->domain->path.provider.c_str(), length, fi_strerror(-error));
  return CWY_ERR_NOMEM;
}

// Registers or replaces a buffer that the provider would not take as it is; `write`: for a result.
// OK, RETRY or NOMEM.
inline cwy_status prepare(cwyc_ep* ep, void* data, cwyc_mem* lmem, size_t length, bool copy,
                          bool write, Local& out) {
  out.data = data;
  const bool local_mr = ep->domain->path.local_mr;
  if (lmem != nullptr) out.desc = lmem->desc;
  const bool unregistered = local_mr && lmem == nullptr;
  const bool small = length <= ep->frame_max;
  const bool copied = (copy || (unregistered && length <= ep->domain->options.copy_below)) && small;
  if (!copied && !unregistered) return CWY_OK;
  if (!copied) {
    int error = 0;
    out.lease = take_lease(ep->domain, data, length, write, error);
    if (out.lease != nullptr) {
      if (out.lease->copy != nullptr) out.data = out.lease->copy.get();
      out.desc = fi_mr_desc(out.lease->mr.get());
      return CWY_OK;
    }
    if (!small) return cannot_register(ep, length, error);
  }
  out.bounce = take_bounce(ep);
  if (out.bounce == nullptr) return CWY_RETRY;
  out.data = out.bounce->data;
  out.desc = out.bounce->desc;
  ++ep->counters.copied;
  return CWY_OK;
}

inline cwy_status may_post(const Link& link) {
  if (__builtin_expect(link.state != LinkState::up, 0))
    return link.state == LinkState::failed ? CWY_ERR_PEER_FAILED : CWY_RETRY;
  return link.ep->in_flight < link.ep->in_flight_max ? CWY_OK : CWY_RETRY;
}

struct Write {
  uint64_t flags;
  Work work;
  uint8_t report;
};

[[gnu::always_inline]] inline cwy_status post_write(Link& link, const Local& local, size_t length,
                                                    uint64_t raddr, const cwyc_rkey& rkey,
                                                    const Write& how, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  Ticket* ticket = take_ticket(ep);
  if (ticket == nullptr) {
    let_go(ep, local);
    return CWY_RETRY;
  }
  ticket->op = op;
  ticket->bounce = local.bounce;
  ticket->lease = local.lease;
  ticket->work = how.work;
  ticket->report = how.report;
  if (how.work == Work::put_behind) {
    ticket->read_behind = remote_address(rkey, raddr) + length - 1;
    ticket->read_key = rkey.key;
  }
  const iovec piece{local.data, length};
  const fi_rma_iov target{remote_address(rkey, raddr), length, rkey.key};
  void* desc = local.desc;
  fi_msg_rma message{};
  message.msg_iov = &piece;
  // `verbs` looks into the first descriptor where there is an array of them, injected or not.
  message.desc = desc != nullptr ? &desc : nullptr;
  message.iov_count = 1;
  message.addr = link.address;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.context = ticket;
  const ssize_t error = fi_writemsg(link.endpoint, &message, how.flags | FI_COMPLETION);
  if (error != 0) {
    give_back_ticket(ep, ticket);
    return refused(link, static_cast<int>(error));
  }
  attach_pending(link, ticket);
  ++ep->counters.puts;
  ep->counters.put_bytes += length;
  return CWY_INPROGRESS;
}

// `copy`: the source is free on return, and the core hears of LOCAL only if `report` has it.
[[gnu::always_inline]] inline cwy_status post_put(cwyc_conn* conn, const void* src, cwyc_mem* lmem,
                                                  uint64_t raddr, const cwyc_rkey& rkey,
                                                  size_t length, bool copy, uint8_t report,
                                                  cwyc_op* op) {
  cwyc_ep* ep = conn->ep;
  Link& link = link_of(conn);
  cwy_status status = may_post(link);
  if (status != CWY_OK) return status;
  const bool complete = ep->domain->delivery_complete;
  Write how{complete ? FI_DELIVERY_COMPLETE : 0, complete ? Work::put : Work::put_behind, report};
  Local local{const_cast<void*>(src)};
  // An injected source is copied by the processor, in most providers.
  const bool readable = lmem == nullptr || lmem->host;
  if (readable && length <= ep->inject_max && (copy || ep->domain->path.local_mr)) {
    how.flags |= FI_INJECT;
    copy = false;
  } else {
    if (copy && length > ep->frame_max) return CWY_ERR_UNSUPPORTED;
    status = prepare(ep, local.data, lmem, length, copy, false, local);
    if (status != CWY_OK) return status;
    if (local.bounce != nullptr) std::memcpy(local.data, src, length);
  }
  return post_write(link, local, length, raddr, rkey, how, op);
}

}  // namespace

cwy_status put_small(cwyc_conn* conn, const void* src, uint64_t raddr, cwyc_rkey* rkey,
                     size_t length, uint32_t, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  return post_put(conn, src, nullptr, raddr, *rkey, length, true, CWYC_DONE_REMOTE, op);
}

cwy_status put(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  const bool copy = (flags & CWYC_SRC_VOLATILE) != 0;
  constexpr uint8_t both = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;
  if (!copy) return post_put(conn, src, lmem, raddr, *rkey, length, false, both, op);
  const cwy_status status =
      post_put(conn, src, lmem, raddr, *rkey, length, true, CWYC_DONE_REMOTE, op);
  if (status == CWY_ERR_UNSUPPORTED)  // too large for a copy of ours: LOCAL comes when it may
    return post_put(conn, src, lmem, raddr, *rkey, length, false, both, op);
  if (status == CWY_INPROGRESS) op->fn(op, CWYC_DONE_LOCAL, CWY_OK);
  return status;
}

cwy_status long_write(Link& link, const void* src, cwyc_mem* lmem, size_t length, uint64_t raddr,
                      const cwyc_rkey& rkey, uint32_t flags, cwyc_op* op) {
  cwyc_ep* ep = link.ep;
  const bool copy = (flags & CWYC_SRC_VOLATILE) != 0 && length <= ep->frame_max;
  Local local{const_cast<void*>(src)};
  const cwy_status ready = prepare(ep, local.data, lmem, length, copy, false, local);
  if (ready != CWY_OK) return ready;
  if (local.bounce != nullptr) std::memcpy(local.data, src, length);
  const bool free_now = local.bounce != nullptr;
  const Write how{0, Work::put, static_cast<uint8_t>(free_now ? 0 : CWYC_DONE_LOCAL)};
  const cwy_status status =
      post_write(link, local, length, raddr, rkey, how, free_now ? nullptr : op);
  return status == CWY_INPROGRESS && free_now ? CWY_OK : status;
}

cwy_status get(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
  cwyc_ep* ep = conn->ep;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  cwy_status status = may_post(link);
  if (status != CWY_OK) return status;
  Local local{dst};
  status = prepare(ep, dst, lmem, length, false, true, local);
  if (status != CWY_OK) return status;
  Ticket* ticket = take_ticket(ep);
  if (ticket == nullptr) {
    let_go(ep, local);
    return CWY_RETRY;
  }
  ticket->op = op;
  ticket->bounce = local.bounce;
  ticket->lease = local.lease;
  ticket->work = Work::get;
  ticket->report = CWYC_DONE_REMOTE;
  if (local.bounce != nullptr) {
    ticket->copy_to = dst;
    ticket->copy_bytes = length;
  }
  const ssize_t error = fi_read(link.endpoint, local.data, length, local.desc, link.address,
                                remote_address(*rkey, raddr), rkey->key, ticket);
  if (error != 0) {
    give_back_ticket(ep, ticket);
    return refused(link, static_cast<int>(error));
  }
  attach_pending(link, ticket);
  ++ep->counters.gets;
  ep->counters.get_bytes += length;
  return CWY_INPROGRESS;
}

// The provider keeps reads behind the writes before them: when the last byte of a put has been
// read back, all of it is in place.
bool read_behind(cwyc_ep* ep, Ticket* ticket) {
  Link& link = *ticket->link;
  const ssize_t error = fi_read(link.endpoint, &ticket->result, 1, ticket->desc, link.address,
                                ticket->read_behind, ticket->read_key, ticket);
  if (error == 0) return true;
  if (refused(link, static_cast<int>(error)) == CWY_RETRY) return false;
  detach_pending(ticket);
  report_op(ticket, 0, CWY_ERR_PEER_FAILED);
  give_back_ticket(ep, ticket);
  return true;
}

uint32_t push_reads(cwyc_ep* ep) {
  uint32_t events = 0;
  while (!ep->reads_due.empty() && read_behind(ep, ep->reads_due.back())) {
    ep->reads_due.pop_back();
    ++events;
  }
  return events;
}

void complete(cwyc_ep* ep, Ticket* ticket, cwy_status status) {
  if (ticket->work == Work::put_behind && status == CWY_OK && ticket->link != nullptr) {
    ticket->work = Work::get;
    if (read_behind(ep, ticket)) return;
    ep->reads_due.push_back(ticket);
    chores_due(ep);
    return;
  }
  if (Link* const link = ticket->link) {
    if (ticket->work == Work::bye) link->bye_sent = true;
    detach_pending(ticket);
    // Not with the good-bye, which may leave before what was posted ahead of it.
    if (link->bye_sent && link->pending == nullptr) want_attention(link);
  }
  if (ticket->copy_to != nullptr && status == CWY_OK) {
    const void* from = ticket->bounce != nullptr ? ticket->bounce->data
                                                 : static_cast<const void*>(&ticket->result);
    std::memcpy(ticket->copy_to, from, ticket->copy_bytes);
  }
  report_op(ticket, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, status);
  give_back_ticket(ep, ticket);
}

void drain_link(Link& link, uint64_t limit_ns) {
  cwyc_ep* ep = link.ep;
  for (Ticket* t = link.pending; t != nullptr; t = t->next) fi_cancel(&link.endpoint->fid, t);
  const uint64_t end = services->now() + limit_ns;
  while (link.pending != nullptr && services->now() < end) progress(ep, 64, CWYC_PROGRESS_REPLIES);
  if (link.pending == nullptr) return;
  log(CWY_LOG_INFO,
      "provider %s keeps operations of the failed rank %u; their buffers are reported free all the "
      "same",
      ep->domain->path.provider.c_str(), link.peer.rank);
}

}  // namespace causeway::ofi
