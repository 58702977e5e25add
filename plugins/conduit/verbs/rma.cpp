// Puts and gets.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "calls.h"

namespace causeway::verbs {
namespace {

// No registration and nothing left to copy through: said once, since the caller cannot.
cwy_status cannot_register(const cwyc_ep* ep, size_t length) {
  if (!std::exchange(ep->domain->told_memory, true))
    log(CWY_LOG_ERROR, "%s cannot register a buffer of %zu bytes: %s%s",
        ep->domain->port.name.c_str(), length, std::strerror(errno), memlock_advice().c_str());
  return CWY_ERR_NOMEM;
}

struct Target {
  ibv_wr_opcode opcode;
  uint64_t address;
  uint32_t rkey;
  unsigned flags;
};

// Posts one work request between `local` and the target; `ticket` has what is to be reported.
cwy_status transfer(Link& link, const Local& local, size_t length, const Target& target,
                    Ticket* ticket) {
  ibv_sge piece{reinterpret_cast<uint64_t>(local.data), static_cast<uint32_t>(length), local.lkey};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = target.opcode;
  request.send_flags = target.flags;
  request.wr.rdma.remote_addr = target.address;
  request.wr.rdma.rkey = target.rkey;
  return post(link, &request, &request, 1, ticket) ? CWY_INPROGRESS : why_not(link);
}

// `copy`: the source must be free on return; UNSUPPORTED when it is too long for that.
cwy_status post_put(cwyc_conn* conn, const void* src, const cwyc_mem* lmem, uint64_t raddr,
                    const cwyc_rkey& rkey, size_t length, bool copy, uint8_t report, cwyc_op* op) {
  cwyc_ep* ep = conn->ep;
  Link& link = link_of(conn);
  cwy_status status = may_post(link, 1);
  if (status != CWY_OK) return status;
  Target target{IBV_WR_RDMA_WRITE, raddr, rkey.rkey, 0};
  Local local;
  // An inlined source is copied by the processor.
  const bool readable = lmem == nullptr || lmem->rkey.host == 1;
  if (readable && length <= ep->domain->inline_max) {
    target.flags = IBV_SEND_INLINE;
    local.data = const_cast<void*>(src);
  } else {
    if (copy && length > ep->bounce_bytes) return CWY_ERR_UNSUPPORTED;
    status = prepare(ep, src, lmem, length, copy, false, local);
    if (status != CWY_OK) return status;
    if (local.bounce != nullptr) std::memcpy(local.data, src, length);
  }
  Ticket* ticket = take_ticket(ep);
  if (ticket == nullptr) {
    let_go(ep, local);
    return CWY_RETRY;
  }
  ticket->work = Work::put;
  ticket->op = op;
  ticket->report = report;
  ticket->bounce = local.bounce;
  ticket->lease = local.lease;
  status = transfer(link, local, length, target, ticket);
  if (status == CWY_INPROGRESS) {
    ++ep->counters.puts;
    ep->counters.put_bytes += length;
  }
  return status;
}

cwy_status status_of(const cwyc_ep* ep, ibv_wc_status status) {
  if (ep->domain->failed) return CWY_ERR_DEVICE_FAILED;
  switch (status) {
    case IBV_WC_SUCCESS:
      return CWY_OK;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
      return CWY_ERR_INVALID;
    default:
      return CWY_ERR_PEER_FAILED;
  }
}

const char* symptom(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "it does not acknowledge packets any more";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "it has no receive buffers";
    case IBV_WC_REM_ACCESS_ERR:
      return "it refused an access to memory that is not registered any more";
    case IBV_WC_WR_FLUSH_ERR:
      return "the connection broke";
    default:
      return ibv_wc_status_str(status);
  }
}

}  // namespace

void let_go(cwyc_ep* ep, const Local& local) {
  if (local.bounce != nullptr) give_back_bounce(ep, local.bounce);
  if (local.lease != nullptr) ep->domain->leases->give_back(local.lease);
}

cwy_status prepare(cwyc_ep* ep, const void* data, const cwyc_mem* lmem, size_t length, bool copy,
                   bool write, Local& out) {
  out.data = const_cast<void*>(data);
  if (lmem != nullptr && !copy) {
    out.lkey = lmem->mr->lkey;
    return CWY_OK;
  }
  if (!copy && length > ep->domain->options.copy_below) {
    out.lease = ep->domain->leases->take(data, length, write);
    if (out.lease != nullptr) {
      out.lkey = out.lease->mr->lkey;
      return CWY_OK;
    }
    // The frame of a long stands behind its payload.
    if (aligned(length) + frame_overhead > ep->bounce_bytes) return cannot_register(ep, length);
  }
  out.bounce = take_bounce(ep);
  if (out.bounce == nullptr) return CWY_RETRY;
  out.data = out.bounce->data;
  out.lkey = out.bounce->lkey;
  ++ep->counters.copied;
  return CWY_OK;
}

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
  if (length > conn->ep->domain->port.max_message) return CWY_ERR_INVALID;
  const Pass pass(conn->ep->domain->gate);
  constexpr uint8_t both = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;
  if ((flags & CWYC_SRC_VOLATILE) == 0)
    return post_put(conn, src, lmem, raddr, *rkey, length, false, both, op);
  const cwy_status status =
      post_put(conn, src, lmem, raddr, *rkey, length, true, CWYC_DONE_REMOTE, op);
  if (status == CWY_ERR_UNSUPPORTED)  // too large for a copy of ours: LOCAL comes when it may
    return post_put(conn, src, lmem, raddr, *rkey, length, false, both, op);
  if (status == CWY_INPROGRESS) op->fn(op, CWYC_DONE_LOCAL, CWY_OK);
  return status;
}

cwy_status get(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  if (rkey == nullptr || !inside(*rkey, raddr, length)) return CWY_ERR_INVALID;
  cwyc_ep* ep = conn->ep;
  if (length > ep->domain->port.max_message) return CWY_ERR_INVALID;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  cwy_status status = may_post(link, 1);
  if (status != CWY_OK) return status;
  Local local;
  status = prepare(ep, dst, lmem, length, false, true, local);
  if (status != CWY_OK) return status;
  Ticket* ticket = take_ticket(ep);
  if (ticket == nullptr) {
    let_go(ep, local);
    return CWY_RETRY;
  }
  ticket->work = Work::get;
  ticket->op = op;
  ticket->report = CWYC_DONE_REMOTE;
  ticket->bounce = local.bounce;
  ticket->lease = local.lease;
  if (local.bounce != nullptr) {
    ticket->copy_to = dst;
    ticket->copy_bytes = length;
  }
  status = transfer(link, local, length, {IBV_WR_RDMA_READ, raddr, rkey->rkey, 0}, ticket);
  if (status == CWY_INPROGRESS) {
    ++ep->counters.gets;
    ep->counters.get_bytes += length;
  }
  return status;
}

void complete(cwyc_ep* ep, Ticket* ticket, const ibv_wc& wc) {
  if (ticket->work == Work::datagram) {
    std::erase(ep->datagrams, ticket);
    give_back_ticket(ep, ticket);
    return;
  }
  // Of a device that fails, an operation that does is often the first sign.
  if (__builtin_expect(wc.status != IBV_WC_SUCCESS, 0)) look_at_device(ep->domain);
  Link* link = ticket->link;
  const cwy_status status = status_of(ep, wc.status);
  if (link != nullptr) {
    link->used -= std::min(ticket->slots, link->used);
    if (ticket->work == Work::probe) link->probing = false;
    if (ticket->work == Work::last_send) {
      link->bye_sent = true;
      want_attention(link);
    }
  }
  detach_pending(ticket);
  if (ticket->copy_to != nullptr && status == CWY_OK) {
    const void* from = ticket->bounce != nullptr ? ticket->bounce->data
                                                 : static_cast<const void*>(&ticket->result);
    std::memcpy(ticket->copy_to, from, ticket->copy_bytes);
  }
  if (__builtin_expect(status != CWY_OK, 0)) {
    ++ep->counters.errors;
    if (link != nullptr) lose_link(*link, symptom(wc.status));
  }
  report_op(ticket, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, status);
  give_back_ticket(ep, ticket);
}

void on_unsignaled_error(cwyc_ep* ep, const ibv_wc& wc) {
  look_at_device(ep->domain);
  for (const auto& link : ep->links) {
    if (link == nullptr || link->qp == nullptr || link->qp->qp_num != wc.qp_num) continue;
    ++ep->counters.errors;
    lose_link(*link, symptom(wc.status));
    return;
  }
}

}  // namespace causeway::verbs
