// The atomics that adapters have, in the core's words.
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

cwy_status Network::post_atomic(Link& link, Ticket* ticket, uint32_t operation, uint32_t,
                                const cwyc_atomic& a, const cwyc_rkey& rkey) {
  ibv_sge result = piece_of(&ticket->result, 8, ticket->key);
  ibv_send_wr request{};
  request.sg_list = &result;
  request.num_sge = 1;
  request.wr.atomic.remote_addr = a.raddr;
  request.wr.atomic.rkey = rkey.rkey;
  if (operation == op_cas || operation == op_fcas) {
    request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
    request.wr.atomic.compare_add = a.operand1;
    request.wr.atomic.swap = a.operand2;
  } else {
    request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.wr.atomic.compare_add = addend(operation, a.operand1);
  }
  return post(link, &request, &request, 1, ticket);
}

}  // namespace causeway::verbs
