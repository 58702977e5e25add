// Passive communication and global atomics (chapters 9 and 10).
#include <gasnet_fwd.h>

#include "api/gaspi/atomic.h"
#include "api/gaspi/entry.h"
#include "api/gaspi/passive.h"

namespace causeway::gaspi {
namespace {

// The local bytes of a passive call.
char* local_bytes(const World& w, unsigned segment, uint64_t offset, uint64_t size) {
  const LocalSegment& s = w.segment(segment);
  const gaspi_size_t most = w.config.passive_transfer_size_max;
  if (size == 0 || size > most)
    refuse(GASPI_ERR_INV_COMMSIZE, "{} bytes; expected 1 to {}", size, most);
  s.require_inside(offset, size);
  return s.base + offset;
}

gaspi_return_t atomic(const char* name, unsigned segment, uint64_t offset, unsigned rank,
                      gex_OP_t opcode, uint64_t operand1, uint64_t operand2,
                      gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout) {
  return timed_call(name, rank, timeout, [&](World& w, Deadline& deadline) {
    constexpr size_t kSize = sizeof(gaspi_atomic_value_t);
    if (!w.usable[rank].load(std::memory_order_relaxed)) return GASPI_ERROR;
    require_pointer(value_old, "value_old");
    FarSegment& s = w.segment_of(rank, segment);
    if (!s.contains(offset, kSize))
      refuse(GASPI_ERR_INV_REM_OFF, "offset {} is not inside segment {} of rank {}, of {} bytes",
             offset, segment, rank, s.size);
    if ((s.base + offset) % kSize != 0)
      refuse(GASPI_ERR_UNALIGN_OFF, "offset {} of segment {} of rank {} is not aligned to {} bytes",
             offset, segment, rank, kSize);
    w.statistics.add(Counter::atomics);
    uint64_t old = 0;
    const gaspi_return_t result =
        perform_atomic(w, {rank, &s, offset, opcode, operand1, operand2}, &old, deadline);
    if (result == GASPI_SUCCESS) *value_old = old;
    return result;
  });
}

}  // namespace

gaspi_return_t entry_passive_send(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                  gaspi_rank_t rank, gaspi_size_t size, gaspi_timeout_t timeout) {
  return timed_call("gaspi_passive_send()", rank, timeout, [&](World& w, Deadline& deadline) {
    const char* const data = local_bytes(w, segment_id_local, offset_local, size);
    if (!w.usable[rank].load(std::memory_order_relaxed)) return GASPI_ERROR;
    const gaspi_return_t result = w.passive->send(data, size, rank, deadline);
    if (result == GASPI_SUCCESS) w.statistics.add(Counter::passive_sends);
    return result;
  });
}

gaspi_return_t entry_passive_receive(gaspi_segment_id_t segment_id_local,
                                     gaspi_offset_t offset_local, gaspi_rank_t* rem_rank,
                                     gaspi_size_t size, gaspi_timeout_t timeout) {
  return timed_call("gaspi_passive_receive()", timeout, [&](World& w, Deadline& deadline) {
    require_pointer(rem_rank, "rem_rank");
    char* const to = local_bytes(w, segment_id_local, offset_local, size);
    deadline.is_for("a message from any rank", 0);
    const gaspi_return_t result = w.passive->receive(to, size, rem_rank, deadline);
    if (result == GASPI_ERR_INV_SIZE)
      refuse(result, "the message that waits is longer than {} bytes", size);
    if (result == GASPI_SUCCESS) w.statistics.add(Counter::passive_receives);
    return result;
  });
}

gaspi_return_t entry_passive_queue_purge(gaspi_timeout_t) {
  return call("gaspi_passive_queue_purge()", [](World& w) { w.passive->purge(); });
}

gaspi_return_t entry_atomic_fetch_add(gaspi_segment_id_t segment_id, gaspi_offset_t offset,
                                      gaspi_rank_t rank, gaspi_atomic_value_t value_add,
                                      gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout) {
  return atomic("gaspi_atomic_fetch_add()", segment_id, offset, rank, GEX_OP_FADD, value_add, 0,
                value_old, timeout);
}

gaspi_return_t entry_atomic_compare_swap(gaspi_segment_id_t segment_id, gaspi_offset_t offset,
                                         gaspi_rank_t rank, gaspi_atomic_value_t comparator,
                                         gaspi_atomic_value_t value_new,
                                         gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout) {
  return atomic("gaspi_atomic_compare_swap()", segment_id, offset, rank, GEX_OP_FCAS, comparator,
                value_new, value_old, timeout);
}

}  // namespace causeway::gaspi
