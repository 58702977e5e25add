// The atomics that adapters have, in the core's words.
#include <bit>
#include <cstring>

#include "../common/cpu_atomics.h"
#include "calls.h"

namespace causeway::verbs {
namespace {

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

cwy_status atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t, cwyc_op* op) {
  if (!std::has_single_bit(a->opcode) || !std::has_single_bit(a->dt)) return CWY_ERR_INVALID;
  const auto operation = static_cast<uint32_t>(std::countr_zero(a->opcode));
  const auto type = static_cast<uint32_t>(std::countr_zero(a->dt));
  cwyc_ep* ep = conn->ep;
  if (operation >= operation_count || type >= type_count ||
      (ep->domain->atomic_ops[type] >> operation & 1) == 0)
    return CWY_ERR_UNSUPPORTED;
  if (rkey == nullptr || !inside(*rkey, a->raddr, 8) || a->raddr % 8 != 0) return CWY_ERR_INVALID;
  const Pass pass(ep->domain->gate);
  Link& link = link_of(conn);
  const cwy_status status = may_post(link, 1);
  if (status != CWY_OK) return status;
  Ticket* ticket = take_ticket(ep);
  if (ticket == nullptr) return CWY_RETRY;
  ticket->work = Work::atomic;
  ticket->op = op;
  ticket->report = CWYC_DONE_REMOTE;
  if (a->result != nullptr) {
    ticket->copy_to = a->result;
    ticket->copy_bytes = 8;
  }
  ibv_sge result{reinterpret_cast<uint64_t>(&ticket->result), 8, ticket->lkey};
  ibv_send_wr request{};
  request.sg_list = &result;
  request.num_sge = 1;
  request.wr.atomic.remote_addr = a->raddr;
  request.wr.atomic.rkey = rkey->rkey;
  if (operation == op_cas || operation == op_fcas) {
    request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    request.wr.atomic.compare_add = a->operand1;
    request.wr.atomic.swap = a->operand2;
  } else {
    request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.wr.atomic.compare_add = addend(operation, a->operand1);
  }
  if (!post(link, &request, &request, 1, ticket)) return why_not(link);
  ++ep->counters.atomics;
  return CWY_INPROGRESS;
}

}  // namespace causeway::verbs
