// Passive communication and global atomics (chapters 9 and 10).
#include <gasnet_fwd.h>

#include "api/gaspi/atomic.h"
#include "api/gaspi/entry.h"
#include "api/gaspi/passive.h"

using namespace causeway;
using namespace causeway::gaspi;

namespace causeway::gaspi {
namespace {

// The local bytes of a passive call, or why not.
gaspi_return_t local_bytes(const World& w, const char* call, unsigned segment, uint64_t offset,
                           uint64_t size, char** out) {
  const LocalSegment* const s = w.segments[segment].load(std::memory_order_acquire);
  if (s == nullptr) {
    return refuse(GASPI_ERR_INV_SEG, call, fmt::format("there is no segment {} here", segment));
  }
  if (size == 0 || size > w.config.passive_transfer_size_max) {
    return refuse(
        GASPI_ERR_INV_COMMSIZE, call,
        fmt::format("{} bytes; expected 1 to {}", size, w.config.passive_transfer_size_max));
  }
  if (!s->contains(offset, size)) {
    return refuse(GASPI_ERR_INV_LOC_OFF, call,
                  fmt::format("[{}, {}) leaves local segment {} of {} bytes", offset, offset + size,
                              segment, s->size));
  }
  *out = s->base + offset;
  return GASPI_SUCCESS;
}

gaspi_return_t atomic(const char* call, unsigned segment, uint64_t offset, unsigned rank,
                      gex_OP_t opcode, uint64_t operand1, uint64_t operand2,
                      gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout) {
  return with_world(call, [&](World& w) {
    const gaspi_return_t known = require_rank(w, call, rank);
    if (known != GASPI_SUCCESS) return known;
    if (!w.usable[rank].load(std::memory_order_relaxed)) return GASPI_ERROR;
    if (value_old == nullptr) return refuse(GASPI_ERR_NULLPTR, call, "value_old is NULL");
    FarSegment* const r = w.remote_segment(segment, rank);
    if (r == nullptr) {
      return refuse(GASPI_ERR_INV_SEG, call,
                    fmt::format("segment {} of rank {} is not registered here", segment, rank));
    }
    if (!r->contains(offset, sizeof(gaspi_atomic_value_t))) {
      return refuse(GASPI_ERR_INV_REM_OFF, call,
                    fmt::format("offset {} is not inside segment {} of rank {}, of {} bytes",
                                offset, segment, rank, r->size));
    }
    if ((r->base + offset) % sizeof(gaspi_atomic_value_t) != 0) {
      return refuse(GASPI_ERR_UNALIGN_OFF, call,
                    fmt::format("offset {} of segment {} of rank {} is not aligned to {} bytes",
                                offset, segment, rank, sizeof(gaspi_atomic_value_t)));
    }
    w.statistics.add(Counter::atomics);
    Deadline deadline(call, timeout, rank);
    uint64_t old = 0;
    const gaspi_return_t result =
        perform_atomic(w, {rank, r, offset, opcode, operand1, operand2}, &old, deadline);
    if (result == GASPI_SUCCESS) *value_old = old;
    return result;
  });
}

}  // namespace
}  // namespace causeway::gaspi

CAUSEWAY_API gaspi_return_t cwy_gaspi_passive_send_v1(gaspi_segment_id_t segment_id_local,
                                                      gaspi_offset_t offset_local,
                                                      gaspi_rank_t rank, gaspi_size_t size,
                                                      gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_passive_send()";
  return with_world(kCall, [&](World& w) {
    const gaspi_return_t known = require_rank(w, kCall, rank);
    if (known != GASPI_SUCCESS) return known;
    char* data = nullptr;
    const gaspi_return_t wrong = local_bytes(w, kCall, segment_id_local, offset_local, size, &data);
    if (wrong != GASPI_SUCCESS) return wrong;
    if (!w.usable[rank].load(std::memory_order_relaxed)) return GASPI_ERROR;
    Deadline deadline(kCall, timeout, rank);
    const gaspi_return_t result = w.passive->send(data, size, rank, deadline);
    if (result == GASPI_SUCCESS) w.statistics.add(Counter::passive_sends);
    return result;
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_passive_receive_v1(gaspi_segment_id_t segment_id_local,
                                                         gaspi_offset_t offset_local,
                                                         gaspi_rank_t* rem_rank, gaspi_size_t size,
                                                         gaspi_timeout_t timeout) {
  constexpr const char* kCall = "gaspi_passive_receive()";
  return with_world(kCall, [&](World& w) {
    if (rem_rank == nullptr) return refuse(GASPI_ERR_NULLPTR, kCall, "rem_rank is NULL");
    char* to = nullptr;
    const gaspi_return_t wrong = local_bytes(w, kCall, segment_id_local, offset_local, size, &to);
    if (wrong != GASPI_SUCCESS) return wrong;
    Deadline deadline(kCall, timeout);
    const gaspi_return_t result = w.passive->receive(to, size, rem_rank, deadline);
    if (result == GASPI_SUCCESS) w.statistics.add(Counter::passive_receives);
    if (result != GASPI_ERR_INV_SIZE) return result;
    return refuse(result, kCall,
                  fmt::format("the message that waits is longer than {} bytes", size));
  });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_passive_queue_purge_v1(gaspi_timeout_t) {
  return with_world("gaspi_passive_queue_purge()", [](World& w) { return w.passive->purge(); });
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_atomic_fetch_add_v1(gaspi_segment_id_t segment_id,
                                                          gaspi_offset_t offset, gaspi_rank_t rank,
                                                          gaspi_atomic_value_t value_add,
                                                          gaspi_atomic_value_t* value_old,
                                                          gaspi_timeout_t timeout) {
  return atomic("gaspi_atomic_fetch_add()", segment_id, offset, rank, GEX_OP_FADD, value_add, 0,
                value_old, timeout);
}

CAUSEWAY_API gaspi_return_t cwy_gaspi_atomic_compare_swap_v1(
    gaspi_segment_id_t segment_id, gaspi_offset_t offset, gaspi_rank_t rank,
    gaspi_atomic_value_t comparator, gaspi_atomic_value_t value_new,
    gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout) {
  return atomic("gaspi_atomic_compare_swap()", segment_id, offset, rank, GEX_OP_FCAS, comparator,
                value_new, value_old, timeout);
}
