// Atomics: what UCX has, and what can be said in its words without a change of meaning.
#include <bit>
#include <cstring>

#include "../common/cpu_atomics.h"
#include "endpoint.h"
#include "rma.h"

namespace causeway::ucx {
namespace {

using namespace cpu_atomics;

constexpr uint64_t bit(uint32_t operation) {
  return 1ull << operation;
}

// min, max and mult are missing in UCX. A floating-point sum or comparison is none of integers, but
// moving a value is.
constexpr uint64_t moves = bit(op_set) | bit(op_swap) | bit(op_get);
constexpr uint64_t sums = bit(op_add) | bit(op_sub) | bit(op_inc) | bit(op_dec);
constexpr uint64_t without_result = sums | bitwise;
constexpr uint64_t integers =
    moves | bit(op_cas) | bit(op_fcas) | without_result | without_result << fetching;

// Over shared memory UCX 1.13 combines the old value with itself instead of with the operand when a
// bitwise operation fetches: and, or leave the word alone, xor makes it zero. The core then
// executes every domain that has one of these.
uint64_t operations(const cwyc_domain* domain, uint32_t type) {
  if (type >= flt) return moves;
  return domain->shared_memory ? integers & ~(bitwise << fetching) : integers;
}

// An operation in UCX's words.
struct Translation {
  ucp_atomic_op_t op;
  uint64_t operand;  // X
  uint64_t third;    // Z of a compare-and-swap
  bool fetches;      // UCX answers a value (that the caller may not want)
};

Translation translate_sum(uint32_t operation, const cwyc_atomic& a) {
  switch (operation) {
    case op_sub:
      return {UCP_ATOMIC_OP_ADD, 0 - a.operand1, 0, false};
    case op_inc:
      return {UCP_ATOMIC_OP_ADD, 1, 0, false};
    case op_dec:
      return {UCP_ATOMIC_OP_ADD, ~0ull, 0, false};
    case op_and:
      return {UCP_ATOMIC_OP_AND, a.operand1, 0, false};
    case op_or:
      return {UCP_ATOMIC_OP_OR, a.operand1, 0, false};
    case op_xor:
      return {UCP_ATOMIC_OP_XOR, a.operand1, 0, false};
    default:
      return {UCP_ATOMIC_OP_ADD, a.operand1, 0, false};
  }
}

Translation translate(uint32_t operation, const cwyc_atomic& a) {
  switch (operation) {
    case op_set:
    case op_swap:
      return {UCP_ATOMIC_OP_SWAP, a.operand1, 0, true};
    case op_get:
      return {UCP_ATOMIC_OP_ADD, 0, 0, true};
    case op_cas:
    case op_fcas:
      return {UCP_ATOMIC_OP_CSWAP, a.operand1, a.operand2, true};
    default:
      break;
  }
  if (operation < fetching) return translate_sum(operation, a);
  Translation t = translate_sum(operation - fetching, a);
  t.fetches = true;
  return t;
}

cwy_status refuse(const cwyc_ep* ep, const Connection& c, const cwyc_atomic& a,
                  const cwyc_rkey* rkey) {
  if (c.ep == nullptr) return CWY_ERR_PEER_FAILED;
  if (!std::has_single_bit(a.opcode) || !std::has_single_bit(a.dt)) return CWY_ERR_INVALID;
  const size_t bytes = width(a);
  if (rkey == nullptr || !inside(*rkey, a.raddr, bytes) || a.raddr % bytes != 0)
    return CWY_ERR_INVALID;
  const auto type = static_cast<uint32_t>(std::countr_zero(a.dt));
  const auto operation = static_cast<uint32_t>(std::countr_zero(a.opcode));
  if (type >= type_count || operation >= operation_count) return CWY_ERR_UNSUPPORTED;
  return (operations(ep->domain, type) >> operation & 1) != 0 ? CWY_OK : CWY_ERR_UNSUPPORTED;
}

}  // namespace

void declare_atomics(const cwyc_domain* domain, uint64_t (&atomic_ops)[16]) {
  for (uint32_t type = i32; type < type_count; ++type) atomic_ops[type] = operations(domain, type);
}

// In the slot: the operand, and 16 bytes further UCX's answer (and before it, Z).
cwy_status Conduit::atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                           cwyc_op* op) {
  Connection& c = connection(conn);
  cwy_status status = refuse(conn->ep, c, *a, rkey);
  if (status == CWY_OK) status = unpack(*c.link, *rkey);
  if (status != CWY_OK) return status;
  Slot* slot = take_slot(conn->ep, flags);
  if (slot == nullptr) return CWY_RETRY;
  const Translation t = translate(static_cast<uint32_t>(std::countr_zero(a->opcode)), *a);
  std::memcpy(slot->bytes, &t.operand, sizeof t.operand);
  std::memcpy(slot->bytes + 16, &t.third, sizeof t.third);
  slot->link = c.link;
  slot->kind = t.fetches ? SlotKind::fetch : SlotKind::put;
  slot->op = t.fetches ? op : nullptr;
  slot->result = a->result;
  slot->width = static_cast<uint32_t>(width(*a));
  ucp_request_param_t param;
  describe(param, slot, nullptr);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
  param.datatype = ucp_dt_make_contig(slot->width);
  if (t.fetches) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.reply_buffer = slot->bytes + 16;
  }
  conn->ep->count(atomic_count);
  conn->ep->traffic.sent(conn->peer.rank, 0);
  status = accepted(*c.link, slot,
                    ucp_atomic_op_nbx(c.ep, t.op, slot->bytes, 1, a->raddr, rkey->key, &param));
  if (status < 0) return status;
  if (status == CWY_OK) {
    if (t.fetches && a->result != nullptr) std::memcpy(a->result, slot->bytes + 16, slot->width);
    conn->ep->slots.give(slot);
  }
  return t.fetches ? status : await_remote(*c.link, op, true, false);
}

}  // namespace causeway::ucx
