// Faults in what flags, capabilities and limits say, and in what threads share.
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "front.h"

namespace broken {
namespace {

using Args = const int32_t*;

// ---- messages that are copied

// Copies, and reports so to an op that need not be there.
template <uint32_t of>
cwy_status op_expected(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                       cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
  if (status != CWY_OK || (flags & of) != of) return status;
  op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  return CWY_INPROGRESS;
}
cwy_status op_expected_of_longs(cwyc_conn* c, uint64_t word, Args args, uint32_t n,
                                const void* payload, cwyc_mem* mem, size_t length, uint64_t raddr,
                                cwyc_rkey* rkey, uint32_t flags, cwyc_op* op) {
  const cwy_status status =
      g_ops->am_long(c, word, args, n, payload, mem, length, raddr, rkey, flags, op);
  if (status != CWY_OK || (flags & CWYC_SRC_VOLATILE) == 0) return status;
  op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  return CWY_INPROGRESS;
}

// Tells of every end in the same way.
cwy_status both_bits(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                     cwyc_mem* mem, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
  if (status != CWY_OK || (flags & CWYC_SRC_VOLATILE) != 0) return status;
  op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
  return CWY_INPROGRESS;
}

// Messages leave with the next calls of progress, if any come before their connection ends.
cwy_status mediums_dropped(cwyc_conn* c, uint64_t word, Args args, uint32_t n, const void* payload,
                           cwyc_mem*, size_t length, uint32_t flags, cwyc_op*) {
  const auto* const bytes = static_cast<const char*>(payload);
  g_later.add(1, [=, copy = std::vector<int32_t>(args, args + n),
                  data = std::vector<char>(bytes, bytes + length)] {
    return g_ops->am_medium(c, word, copy.data(), n, data.data(), nullptr, length,
                            flags | CWYC_SRC_VOLATILE, nullptr) != CWY_RETRY;
  });
  return CWY_OK;
}

// ---- flags, capabilities, limits

cwy_status strict_flags(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  if (flags >> 17 != 0) return CWY_ERR_INVALID;
  return g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
}

template <uint64_t cap>
void claim() {
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->caps |= cap;
    return status;
  };
}
template <uint64_t cwyc_ep_attr::*limit, uint64_t value>
void limited() {
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->*limit = value;
    return status;
  };
}

cwy_status far_table(cwyc_ep* ep, cwyc_conn* c, const cwyc_peer_desc* peer, cwyc_op* op,
                     cwy_err* err) {
  const cwy_status status = g_inner->connect(ep, c, peer, op, err);
  c->table = 7;
  return status;
}

cwy_status coloured_reach(cwyc_domain*, const cwyc_peer_desc*, cwy_err* err) {
  return refused(err, CWY_ERR_UNREACHABLE, "\033[31mred");
}

// ---- threads

// The put of every thread stands in one place.
cwy_status shared_put(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                      size_t length, uint32_t flags, cwyc_op* op) {
  static uint64_t volatile target;
  target = raddr;
  if (tick() % 16 == 0) sched_yield();
  return g_ops->put(c, src, mem, target, rkey, length, flags, op);
}

// ---- results and reservations

cwy_status wide_result(cwyc_conn* c, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                       cwyc_op* op) {
  uint64_t result = 0;
  cwyc_atomic ours = *a;
  if (a->result != nullptr) ours.result = &result;
  const cwy_status status = g_ops->atomic(c, &ours, rkey, flags, op);
  if (status == CWY_OK && a->result != nullptr) std::memcpy(a->result, &result, sizeof result);
  return status;
}

void leaking_cancel(cwyc_conn* c, cwyc_am_slot* slot) {
  [[maybe_unused]] static void* volatile kept;
  kept = std::malloc(48);
  g_ops->am_cancel(c, slot);
}

const Faults faults{
    {"op_expected", [] { g_table.am_medium = op_expected<CWYC_SRC_VOLATILE>; }},
    {"op_expected_in_replies",
     [] { g_table.am_medium = op_expected<CWYC_SRC_VOLATILE | CWYC_LANE_REPLY>; }},
    {"op_expected_of_longs", [] { g_table.am_long = op_expected_of_longs; }},
    {"both_bits", [] { g_table.am_medium = both_bits; }},
    {"mediums_dropped", [] { use_later(), g_table.am_medium = mediums_dropped; }},
    {"strict_flags", [] { g_table.put = strict_flags; }},
    {"claimed_no_progress", claim<CWYC_CAP_NO_PROGRESS>},
    {"claimed_wiring", claim<CWYC_CAP_WIRING>},
    {"tiny_medium", limited<&cwyc_ep_attr::am_medium_max, 5>},
    {"tiny_long", limited<&cwyc_ep_attr::am_long_max, 100>},
    {"far_table", [] { g_module.connect = far_table; }},
    {"coloured_reach", [] { g_module.reach = coloured_reach; }},
    {"shared_put", [] { g_table.put = shared_put; }},
    {"wide_result", [] { g_table.atomic = wide_result; }},
    {"leaking_cancel", [] { g_table.am_cancel = leaking_cancel; }},
};

}  // namespace
}  // namespace broken
