// Faults in one-sided operations, atomics and registrations.
#include <cstdio>
#include <cstring>
#include <vector>

#include "../cases/atomic_model.h"
#include "front.h"

namespace broken {
namespace {

using namespace causeway::conformance;  // the numbers of types and operations

cwy_status put(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  return g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
}

// A path of its own for long puts, which forgets a byte.
cwy_status long_put_short(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                          cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  return put(c, src, mem, raddr, rkey, length > 200'000 ? length - 1 : length, flags, op);
}

cwy_status outside_accepted(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                            cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = put(c, src, mem, raddr, rkey, length, flags, op);
  return status == CWY_ERR_INVALID ? CWY_OK : status;
}

cwy_status lmem_refused(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  if (mem != nullptr) return CWY_ERR_INVALID;
  return put(c, src, mem, raddr, rkey, length, flags, op);
}

// Takes hold of its source as of something to be written to.
cwy_status source_written(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                          cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  auto* const byte = const_cast<volatile char*>(static_cast<const volatile char*>(src));
  if (length > 4096) *byte = *byte;
  return put(c, src, mem, raddr, rkey, length, flags, op);
}

cwy_status long_source_written(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                               const void* src, cwyc_mem* mem, size_t length, uint64_t raddr,
                               cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  auto* const byte = const_cast<volatile char*>(static_cast<const volatile char*>(src));
  if (length > 4096) *byte = *byte;
  return g_ops->am_long(c, word, args, n, src, mem, length, raddr, rkey, flags, op);
}

// The largest buffer so far has one record, which three operations with parts of it use up.
cwy_status one_record(cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                      size_t length, uint32_t flags, cwyc_op* op) {
  static const char* begin = nullptr;
  static size_t bytes = 0, used = 0;
  auto* const at = static_cast<const char*>(dst);
  if (length > bytes) begin = at, bytes = length, used = 0;
  const bool part = at >= begin && at + length <= begin + bytes && length < bytes;
  if (part && ++used > 3) return CWY_ERR_NOMEM;
  return g_ops->get(c, dst, mem, raddr, rkey, length, flags, op);
}

// Each fiftieth put is accepted and ended by nothing, a purge included.
cwy_status put_outlives_purge(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                              cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = put(c, src, mem, raddr, rkey, length, flags, op);
  return status == CWY_OK && tick() % 50 == 0 ? CWY_INPROGRESS : status;
}
cwy_status get_outlives_purge(cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr,
                              cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->get(c, dst, mem, raddr, rkey, length, flags, op);
  return status == CWY_OK && tick() % 50 == 0 ? CWY_INPROGRESS : status;
}

// One record too few.
cwy_status get_forgotten(cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                         size_t length, uint32_t flags, cwyc_op* op) {
  if (tick() == 40'000) return CWY_OK;
  return g_ops->get(c, dst, mem, raddr, rkey, length, flags, op);
}

cwy_status wrong_get_switch(cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                            size_t length, uint32_t flags, cwyc_op* op) {
  return g_ops->get(c, dst, mem, raddr, rkey, length == 65537 ? 65536 : length, flags, op);
}

// A put that the message behind it passes.
cwy_status put_passed(cwyc_conn* c, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                      size_t length, uint32_t, cwyc_op* op) {
  g_later.add(40, [=] {
    if (put(c, src, nullptr, raddr, rkey, length, 0, nullptr) == CWY_RETRY) return false;
    op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
    return true;
  });
  return CWY_INPROGRESS;
}

// Pieces in pairs, whatever their lengths.
size_t common(size_t a, size_t b) {
  return a < b ? a : b;
}
template <typename Move>
cwy_status in_pairs(const cwyc_vector& v, Move&& move) {
  for (size_t i = 0; i < common(v.local_count, v.remote_count); ++i)
    move(v.local[i].addr, v.remote[i].addr, common(v.local[i].length, v.remote[i].length));
  return CWY_OK;
}
cwy_status paired_putv(cwyc_conn* c, const cwyc_vector* v, uint32_t, cwyc_op*) {
  return in_pairs(*v, [&](void* mine, uint64_t theirs, size_t n) {
    put(c, mine, v->lmem, theirs, v->rkey, n, 0, nullptr);
  });
}
cwy_status paired_getv(cwyc_conn* c, const cwyc_vector* v, uint32_t, cwyc_op*) {
  return in_pairs(*v, [&](void* mine, uint64_t theirs, size_t n) {
    g_ops->get(c, mine, v->lmem, theirs, v->rkey, n, 0, nullptr);
  });
}

// The report comes with one call of progress, and the bytes leave with the next ones.
cwy_status reported_when_sent(cwyc_conn* c, const void* src, cwyc_mem*, uint64_t raddr,
                              cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const auto* const bytes = static_cast<const char*>(src);
  if (op == nullptr) return g_ops->put(c, src, nullptr, raddr, rkey, length, flags, op);
  g_later.add(0, [=] {
    op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
    return true;
  });
  g_later.add(1, [=, data = std::vector<char>(bytes, bytes + length)] {
    return g_ops->put(c, data.data(), nullptr, raddr, rkey, length, flags, nullptr) != CWY_RETRY;
  });
  return CWY_INPROGRESS;
}

// ---- atomics

cwy_status min_of_unsigned(cwyc_conn* c, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                           cwyc_op* op) {
  cwyc_atomic other = *a;
  if (a->dt == 1u << kI32 && a->opcode == 1u << kMin) other.dt = 1u << kU32;
  return g_ops->atomic(c, &other, rkey, flags, op);
}

// The 40000th answer is the one before it.
cwy_status answers_mixed_up(cwyc_conn* c, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                            cwyc_op* op) {
  static uint64_t last = 0;
  const cwy_status status = g_ops->atomic(c, a, rkey, flags, op);
  if (status != CWY_OK || a->result == nullptr) return status;
  if (tick() == 40'000) std::memcpy(a->result, &last, sizeof last);
  std::memcpy(&last, a->result, sizeof last);
  return status;
}

// ---- registrations and rights

cwy_status pages_only(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  if (ref->addr % 4096 != 0) return refused(err, CWY_ERR_INVALID, "not at a page");
  return g_inner->mem_reg(domain, ref, out, err);
}

cwy_status believed_rkey(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t length,
                         cwyc_rkey** out, cwy_err* err) {
  const cwy_status status = g_inner->rkey_open(ep, peer, buf, length, out, err);
  return length == 0 ? CWY_OK : status;
}

const Faults faults{
    {"long_put_short", [] { g_table.put = long_put_short; }},
    {"outside_accepted", [] { g_table.put = outside_accepted; }},
    {"lmem_refused", [] { g_table.put = lmem_refused; }},
    {"source_written", [] { g_table.put = source_written; }},
    {"long_source_written", [] { g_table.am_long = long_source_written; }},
    {"one_record", [] { g_table.get = one_record; }},
    {"put_outlives_purge", [] { g_table.put = put_outlives_purge; }},
    {"get_outlives_purge", [] { g_table.get = get_outlives_purge; }},
    {"get_forgotten", [] { g_table.get = get_forgotten; }},
    {"wrong_get_switch", [] { g_table.get = wrong_get_switch; }},
    {"put_passed", [] { use_later(), g_table.put = put_passed; }},
    {"paired_putv", [] { g_table.putv = paired_putv; }},
    {"paired_getv", [] { g_table.getv = paired_getv; }},
    {"reported_when_sent", [] { use_later(), g_table.put = reported_when_sent; }},
    {"min_of_unsigned", [] { g_table.atomic = min_of_unsigned; }},
    {"answers_mixed_up", [] { g_table.atomic = answers_mixed_up; }},
    {"pages_only", [] { g_module.mem_reg = pages_only; }},
    {"believed_rkey", [] { g_module.rkey_open = believed_rkey; }},
};

}  // namespace
}  // namespace broken
