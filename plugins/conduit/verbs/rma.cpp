// Puts, gets and atomics in the device's hands, and how all operations end.
#include <algorithm>

#include "../common/cpu_atomics.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

struct Target {
  ibv_wr_opcode opcode;
  uint64_t address;
  uint32_t rkey;
  unsigned flags;
};

// Posts one work request between `local` and the target; `ticket` has what is to be reported.
cwy_status transfer(Link& link, const Local& local, size_t length, const Target& target,
                    Ticket* ticket) {
  ibv_sge piece = piece_of(local.data, length, local.key);
  ibv_send_wr request = request_of(target.opcode, &piece, 1);
  request.send_flags = target.flags;
  request.wr.rdma.remote_addr = target.address;
  request.wr.rdma.rkey = target.rkey;
  return post(link, &request, &request, 1, ticket);
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

using namespace cpu_atomics;

// What is added for the operations that are sums in disguise.
uint64_t addend(uint32_t operation, uint64_t operand) {
  switch (operation < op_set ? operation % fetching : operation) {
    case op_inc:
      return 1;
    case op_dec:
      return ~uint64_t{0};
    case op_sub:
      return 0 - operand;
    case op_get:
      return 0;
    default:
      return operand;
  }
}

}  // namespace

// An inlined source is copied by the processor.
bool Network::writes_at_once(const cwyc_ep* ep, size_t length, bool) {
  return length <= ep->domain->inline_max;
}

cwy_status Network::write(Link& link, Ticket* ticket, const Local& local, size_t length,
                          uint64_t raddr, const cwyc_rkey& rkey, bool at_once) {
  const unsigned flags = at_once ? IBV_SEND_INLINE : 0;
  return transfer(link, local, length, {IBV_WR_RDMA_WRITE, raddr, rkey.rkey, flags}, ticket);
}

cwy_status Network::read(Link& link, Ticket* ticket, const Local& local, size_t length,
                         uint64_t raddr, const cwyc_rkey& rkey) {
  return transfer(link, local, length, {IBV_WR_RDMA_READ, raddr, rkey.rkey, 0}, ticket);
}

cwy_status Network::post_atomic(Link& link, Ticket* ticket, uint32_t operation, uint32_t,
                                const cwyc_atomic& a, const cwyc_rkey& rkey) {
  ibv_sge result = piece_of(&ticket->result, 8, ticket->key);
  ibv_send_wr request = request_of(IBV_WR_ATOMIC_FETCH_AND_ADD, &result, 1);
  request.wr.atomic.remote_addr = a.raddr;
  request.wr.atomic.rkey = rkey.rkey;
  if (operation == op_cas || operation == op_fcas) {
    request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    request.wr.atomic.compare_add = a.operand1;
    request.wr.atomic.swap = a.operand2;
  } else {
    request.wr.atomic.compare_add = addend(operation, a.operand1);
  }
  return post(link, &request, &request, 1, ticket);
}

void complete(cwyc_ep* ep, Ticket* ticket, const ibv_wc& wc) {
  // Of a device that fails, an operation that does is often the first sign.
  if (__builtin_expect(wc.status != IBV_WC_SUCCESS, 0)) look_at_device(ep->domain);
  Link* link = ticket->link;
  const cwy_status status = status_of(ep, wc.status);
  if (link != nullptr) {
    link->used -= std::min(ticket->slots, link->used);
    if (ticket->work == Work::probe) link->probing = false;
  }
  settle(ticket, status);
  if (__builtin_expect(status != CWY_OK, 0)) {
    ep->counters.errors.add(1);
    if (link != nullptr) lose_link(*link, symptom(wc.status));
  }
  if (__builtin_expect(status == CWY_OK, 1)) return tell(ep, ticket, status);
  const cwy_detail detail{CWY_HEAD(cwy_detail), static_cast<int32_t>(wc.status), 0,
                          symptom(wc.status)};
  tell(ep, ticket, status, &detail);
}

void on_unsignaled_error(cwyc_ep* ep, const ibv_wc& wc) {
  look_at_device(ep->domain);
  Link* const link = link_of_queue_pair(ep, wc.qp_num);
  if (link == nullptr) return;
  ep->counters.errors.add(1);
  lose_link(*link, symptom(wc.status));
}

}  // namespace causeway::verbs
