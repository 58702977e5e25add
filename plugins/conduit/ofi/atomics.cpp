// The atomics that the provider has, in the core's words.
#include <rdma/fi_atomic.h>

#include <cstring>

#include "../common/cpu_atomics.h"
#include "calls.h"

namespace causeway::ofi {
namespace {

using namespace cpu_atomics;

constexpr fi_datatype datatypes[type_count] = {FI_INT32,  FI_UINT32, FI_INT64,
                                               FI_UINT64, FI_FLOAT,  FI_DOUBLE};

enum class Form : uint8_t { none, plain, fetch, compare };

struct Mapping {
  Form form;
  fi_op op;
};

// Increments and decrements are additions of 1 and -1, and so is a subtraction of the negative.
// A compare-and-swap that fetches nothing fetches into the ticket.
Mapping mapping_of(uint32_t operation) {
  constexpr fi_op arithmetic[10] = {FI_MIN, FI_SUM, FI_PROD, FI_SUM, FI_MAX,
                                    FI_SUM, FI_SUM, FI_BAND, FI_BOR, FI_BXOR};
  static_assert(op_min == 0 && op_mult == 2 && op_max == 4 && op_and == 7 && op_xor == 9);
  if (operation < fetching) return {Form::plain, arithmetic[operation]};
  if (operation < op_set) return {Form::fetch, arithmetic[operation - fetching]};
  switch (operation) {
    case op_set:
      return {Form::plain, FI_ATOMIC_WRITE};
    case op_get:
      return {Form::fetch, FI_ATOMIC_READ};
    case op_swap:
      return {Form::fetch, FI_ATOMIC_WRITE};
    case op_cas:
    case op_fcas:
      return {Form::compare, FI_CSWAP};
    default:
      return {Form::none, FI_MIN};
  }
}

bool is_valid(fid_ep* ep, const Mapping& m, fi_datatype type) {
  size_t count = 0;
  int error = -1;
  if (m.form == Form::plain) error = fi_atomicvalid(ep, type, m.op, &count);
  if (m.form == Form::fetch) error = fi_fetch_atomicvalid(ep, type, m.op, &count);
  if (m.form == Form::compare) error = fi_compare_atomicvalid(ep, type, m.op, &count);
  return error == 0 && count >= 1;
}

template <class T>
uint64_t as_word(T value) {
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

// What is added for the operations that are additions in disguise; else the operand as it is.
template <class T>
uint64_t operand_of(uint32_t operation, uint64_t operand) {
  const uint32_t plain = operation < fetching ? operation
                         : operation < op_set ? operation - fetching
                                              : operation_count;
  if (plain == op_inc) return as_word(T{1});
  if (plain == op_dec) return as_word(static_cast<T>(T{0} - T{1}));
  if (plain == op_sub) return as_word(static_cast<T>(T{0} - low_bytes<T>(operand)));
  return operand;
}

uint64_t operand_of(uint32_t type, uint32_t operation, uint64_t operand) {
  switch (type) {
    case i32:
    case u32:
      return operand_of<uint32_t>(operation, operand);
    case i64:
    case u64:
      return operand_of<uint64_t>(operation, operand);
    case flt:
      return operand_of<float>(operation, operand);
    default:
      return operand_of<double>(operation, operand);
  }
}

ssize_t post(Link& link, Ticket* t, const Mapping& m, fi_datatype type, uint64_t address,
             uint64_t key) {
  fi_ioc operand{&t->operand[0], 1}, compare{&t->operand[1], 1}, result{&t->result, 1};
  fi_rma_ioc target{address, 1, key};
  fi_msg_atomic message{};
  message.msg_iov = &operand;
  message.desc = &t->key;
  message.iov_count = 1;
  message.addr = link.address;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.datatype = type;
  message.op = m.op;
  message.context = t;
  const uint64_t flags =
      FI_COMPLETION | (link.ep->domain->delivery_complete ? FI_DELIVERY_COMPLETE : 0);
  if (m.form == Form::plain) return fi_atomicmsg(link.endpoint, &message, flags);
  // An answer with the old value is proof enough of completion.
  if (m.form == Form::fetch)
    return fi_fetch_atomicmsg(link.endpoint, &message, &result, &t->key, 1, FI_COMPLETION);
  return fi_compare_atomicmsg(link.endpoint, &message, &compare, &t->key, 1, &result, &t->key, 1,
                              FI_COMPLETION);
}

}  // namespace

void find_atomics(cwyc_domain* domain, fid_ep* ep) {
  // A plain atomic has no answer: without delivery-complete its visibility could not be known.
  if (ep == nullptr || !domain->delivery_complete) return;
  // Integers only: providers compare and order floating-point numbers as C does, and lose the sign
  // of zero, where the core promises bits for compare-and-swap and NaN rules for the rest
  // (core/atomics/README.md).
  for (uint32_t type = 0; type < flt; ++type) {
    uint64_t wanted = integer_operations;
    for (uint32_t operation = 0; operation < operation_count; ++operation) {
      const Mapping m = mapping_of(operation);
      if ((wanted >> operation & 1) == 0 || m.form == Form::none) continue;
      if (!is_valid(ep, m, datatypes[type])) wanted &= ~(1ull << operation);
    }
    domain->atomic_ops[type] = wanted;
  }
}

cwy_status Network::post_atomic(Link& link, Ticket* ticket, uint32_t operation, uint32_t type,
                                const cwyc_atomic& a, const cwyc_rkey& rkey) {
  const Mapping m = mapping_of(operation);
  ticket->operand[0] = operand_of(type, operation, a.operand1);
  if (m.form == Form::compare) {
    ticket->operand[0] = a.operand2;
    ticket->operand[1] = a.operand1;
  }
  const ssize_t error =
      post(link, ticket, m, datatypes[type], remote_address(rkey, a.raddr), rkey.key);
  return posted(link, ticket, error);
}

}  // namespace causeway::ofi
