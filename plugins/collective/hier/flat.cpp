// Flat algorithms: every member writes to every other's scratch at once. One step, as long as the
// team is small and the data short.
#include "hier.h"

namespace hier {

cwy_status flat_barrier(const Run& run, Flat* state) {
  const cwy_status status = tell_others(run, &state->next, nullptr, 0, 0, 0);
  if (status != CWY_OK) return status;
  return run.signal(0) + 1 == run.info->size ? CWY_OK : CWY_INPROGRESS;
}

cwy_status flat_broadcast(const Run& run, Flat* state) {
  const uint64_t bytes = run.bytes();
  if (bytes == 0) return CWY_OK;
  if (run.info->rank == run.args->root) {
    const cwy_status status = tell_others(run, &state->next, run.args->src, bytes, 0, 0);
    if (status != CWY_OK) return status;
    if (run.args->dst != run.args->src) {
      run.s->copy(run.team, run.seq, run.args->dst, run.args->src, bytes);
    }
    return CWY_OK;
  }
  if (run.signal(0) == 0) return CWY_INPROGRESS;
  uint64_t room;
  run.s->copy(run.team, run.seq, run.args->dst, run.scratch(&room), bytes);
  return CWY_OK;
}

// Everybody has all operands and combines them in the same order: equal bits everywhere.
cwy_status flat_reduce_all(const Run& run, Flat* state) {
  const uint64_t bytes = run.bytes(), slot = (bytes + 63) / 64 * 64;
  if (bytes == 0) return CWY_OK;
  const uint32_t size = run.info->size, rank = run.info->rank;
  const cwy_status status = tell_others(run, &state->next, run.args->src, bytes, rank * slot, 0);
  if (status != CWY_OK) return status;
  if (run.signal(0) + 1 != size) return CWY_INPROGRESS;
  if (size == 1) {
    if (run.args->dst != run.args->src) {
      run.s->copy(run.team, run.seq, run.args->dst, run.args->src, bytes);
    }
    return CWY_OK;
  }
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  // One's own slot in the scratch is free: dst may be src, which is an operand still.
  combine_all(
      run, run.args->count, scratch + rank * slot, static_cast<uint8_t*>(run.args->dst),
      [&](uint32_t of) -> const void* { return of == rank ? run.args->src : scratch + of * slot; });
  return CWY_OK;
}

}  // namespace hier
