// Flat algorithms: every member shows what it has to all others at once, in a post or, when that is
// too long for one, in their scratch. One step, as long as the team is small and the data short.
//
// A member may end before the others have looked: a post stays on the board until its readers have
// ended the run (the core sees to that), and a put lies in the reader's own scratch. Each puts into
// a slot that no other run's data can be in, for its owner awaits a signal from everybody that
// raises one there. Nobody reads another's scratch.
#include "hier.h"

namespace hier {

namespace {

// Does it fit into a post? Each member then shows its own in one place, where the others look: one
// line changes hands instead of one for each of them.
bool by_posts(const Run& run) {
  return run.info->posts != 0 && run.bytes() <= run.info->post_max;
}

cwy_status show(const Run& run, Flat* state, const void* src) {
  if (state->posted) return CWY_OK;
  const cwy_status status = run.s->post(run.team, run.seq, 0, src, run.bytes());
  if (status == CWY_RETRY) return CWY_INPROGRESS;
  state->posted = status == CWY_OK;
  return status;
}

}  // namespace

cwy_status flat_barrier(const Run& run, Flat* state) {
  if (run.info->posts == 0) {
    const cwy_status status = tell_others(run, &state->next, nullptr, 0, 0, 0);
    if (status != CWY_OK) return status;
    return run.signal(0) + 1 == run.info->size ? CWY_OK : CWY_INPROGRESS;
  }
  const cwy_status status = show(run, state, nullptr);
  if (status != CWY_OK) return status;
  return hear_others(run, &state->next, 0, 0, [](uint32_t) -> void* { return nullptr; });
}

cwy_status flat_broadcast(const Run& run, Flat* state) {
  const uint64_t bytes = run.bytes();
  if (bytes == 0) return CWY_OK;
  if (run.info->rank == run.args->root) {
    const cwy_status status = by_posts(run)
                                  ? show(run, state, run.args->src)
                                  : tell_others(run, &state->next, run.args->src, bytes, 0, 0);
    if (status != CWY_OK) return status;
    run.keep_own();
    return CWY_OK;
  }
  if (by_posts(run))
    return run.s->posted(run.team, run.seq, run.args->root, 0, run.args->dst, bytes);
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
  uint64_t room;
  uint8_t* const scratch = run.scratch(&room);
  if (by_posts(run)) {
    cwy_status status = show(run, state, run.args->src);
    if (status != CWY_OK) return status;
    status =
        hear_others(run, &state->next, 0, bytes, [&](uint32_t of) { return scratch + of * slot; });
    if (status != CWY_OK) return status;
  } else {
    const cwy_status status = tell_others(run, &state->next, run.args->src, bytes, rank * slot, 0);
    if (status != CWY_OK) return status;
    if (run.signal(0) + 1 != size) return CWY_INPROGRESS;
  }
  if (size == 1) {
    run.keep_own();
    return CWY_OK;
  }
  // One's own slot in the scratch is free: dst may be src, which is an operand still.
  combine_all(
      run, run.args->count, scratch + rank * slot, static_cast<uint8_t*>(run.args->dst),
      [&](uint32_t of) -> const void* { return of == rank ? run.args->src : scratch + of * slot; });
  return CWY_OK;
}

}  // namespace hier
