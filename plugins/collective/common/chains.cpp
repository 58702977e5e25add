// Chains and rings: every member talks to its two neighbours, and all links are busy at once.
#include "algorithms.h"

namespace base {
namespace {

// Stretches that are long enough for the offer to pay go straight into the receiver's buffer, where
// that can be reached.
uint32_t straight_channel(const Run& run, uint64_t stretch) {
  constexpr uint64_t kLeast = 128 << 10;
  const uint64_t window = kMostSlots * run.info->put_max;
  return stretch >= kLeast || stretch >= window ? 0 : kNoChannel;
}

bool overlap(const Run& run) {
  const auto* dst = static_cast<const uint8_t*>(run.args->dst);
  const auto* src = static_cast<const uint8_t*>(run.args->src);
  const uint64_t bytes = total_bytes(run);
  return dst < src + bytes && src < dst + bytes;
}

}  // namespace

void broadcast_chain(const Run& run) {
  begin(run, 1, 5, straight_channel(run, total_bytes(run)));
  const uint32_t size = run.info->size, rank = run.info->rank, root = run.args->root;
  const uint32_t v = (rank + size - root) % size;
  const uint64_t bytes = total_bytes(run);
  const void* data = run.args->src;
  When when;
  if (v != 0) {
    const uint32_t before = (rank + size - 1) % size;
    offer(run, before, run.args->dst, bytes, true);
    when.follow = receive(run, before, 0, run.args->dst, bytes);
    data = run.args->dst;
  }
  if (v + 1 < size) send(run, (rank + 1) % size, 0, data, bytes, when);
  if (v == 0) keep_own(run);
}

// Van de Geijn: a binomial tree hands each member a stretch of blocks, a ring passes them round.
// The root has everything and receives nothing.
void broadcast_scatter_allgather(const Run& run) {
  const uint32_t size = run.info->size, levels = log2_up(size), ring = levels;
  begin(run, levels + 1, 2 * size + levels + 4);
  const uint32_t v = (run.info->rank + size - run.args->root) % size;
  const auto real = [&](uint32_t w) { return (w + run.args->root) % size; };
  const Parts parts{total_bytes(run), 1, size};
  // Blocks v .. end-1 are those of the members below v.
  const auto end_of = [&](uint32_t w, uint32_t k) {
    const uint64_t end = w + (uint64_t{1} << k);
    return end < size ? static_cast<uint32_t>(end) : size;
  };
  uint32_t lowest = 0;
  while (lowest < levels && (v >> lowest & 1) == 0) ++lowest;
  auto* dst = static_cast<uint8_t*>(run.args->dst);
  const uint8_t* data = v == 0 ? static_cast<const uint8_t*>(run.args->src) : dst;
  int32_t arrival = kNone;
  if (v != 0) {
    const uint64_t at = parts.at(v);
    arrival = receive(run, real(v & (v - 1)), lowest, dst + at, parts.at(end_of(v, lowest)) - at);
  }
  for (uint32_t k = lowest; k-- != 0;) {
    const uint64_t child = v + (uint64_t{1} << k);
    if (child >= size) continue;
    const auto c = static_cast<uint32_t>(child);
    const uint64_t at = parts.at(c);
    send(run, real(c), k, data + at, parts.at(end_of(c, k)) - at,
         {arrival, at - parts.at(v), kNone});
  }
  if (v == 0) keep_own(run);
  // Step i: block v - i goes on to v + 1, block v - 1 - i comes.
  When when{arrival, 0, kNone};
  for (uint32_t i = 0; i + 1 < size; ++i) {
    const uint32_t out = (v + size - i) % size, in = (v + 2 * size - 1 - i) % size;
    if (v + 1 < size) send(run, real(v + 1), ring, data + parts.at(out), parts.bytes(out), when);
    if (v == 0) continue;
    when = {receive(run, real(v - 1), ring, dst + parts.at(in), parts.bytes(in)), 0, kNone};
  }
}

// From the far end towards the root, each member combining as bytes pass. Where order matters the
// chain runs from the last rank to rank 0, and the result takes one more step.
void reduce_one_chain(const Run& run) {
  begin(run, 2, 6);
  const uint32_t size = run.info->size, rank = run.info->rank;
  const uint32_t top = ordered(run) ? 0 : run.args->root;
  const bool detour = top != run.args->root, is_target = rank == run.args->root;
  const uint32_t v = (rank + size - top) % size;
  const uint64_t bytes = total_bytes(run);
  const void* result = run.args->src;
  int32_t last = kNone;
  if (v + 1 < size) {
    void* into = is_target && !detour ? run.args->dst : memory(run, bytes);
    last = fold(run, (rank + 1) % size, 0, into, run.args->src, bytes, false);
    result = into;
  }
  if (v != 0)
    last = send(run, (rank + size - 1) % size, 0, result, bytes, {last, 0, kNone});
  else if (detour)
    send(run, run.args->root, 1, result, bytes, {last, 0, kNone});
  else if (result != run.args->dst)
    copy(run, run.args->dst, result, bytes);  // a team of one
  if (is_target && detour) receive(run, top, 1, run.args->dst, bytes, {kNone, 0, last});
}

// Ring reduce-scatter, then ring all-gather (Patarasuk and Yuan 2009). Blocks are combined in the
// order of the ring, which is not that of the ranks.
void reduce_all_ring(const Run& run) {
  const uint32_t size = run.info->size, rank = run.info->rank;
  begin(run, 1, 6 * size + 2, straight_channel(run, total_bytes(run) / size));
  const Parts parts{run.args->count, run.args->element_bytes, size};
  const auto* src = static_cast<const uint8_t*>(run.args->src);
  auto* dst = static_cast<uint8_t*>(run.args->dst);
  if (size == 1) {
    if (dst != src) copy(run, dst, src, total_bytes(run));
    return;
  }
  const uint32_t next = (rank + 1) % size, before = (rank + size - 1) % size;
  const auto block = [&](uint32_t steps_back) { return (rank + 2 * size - steps_back) % size; };
  // Arriving bytes go where their combination goes, next to the operand here, not over it.
  offer(run, before, dst, total_bytes(run), !overlap(run));
  int32_t last = kNone;
  for (uint32_t i = 0; i + 1 < size; ++i) {
    const uint32_t out = block(i), in = block(i + 1);
    const uint8_t* from = i == 0 ? src : dst;
    send(run, next, 0, from + parts.at(out), parts.bytes(out), {last, 0, kNone, parts.at(out)});
    last = fold(run, before, 0, dst + parts.at(in), src + parts.at(in), parts.bytes(in), true);
  }
  for (uint32_t i = 0; i + 1 < size; ++i) {
    const uint32_t out = (rank + 1 + size - i) % size, in = block(i);
    send(run, next, 0, dst + parts.at(out), parts.bytes(out), {last, 0, kNone, parts.at(out)});
    last = receive(run, before, 0, dst + parts.at(in), parts.bytes(in));
  }
}

}  // namespace base
