// Exchanges along the edges of a hypercube: recursive doubling, and recursive halving with
// doubling (Rabenseifner 2004). Teams whose size is no power of two fold the ranks in excess into
// their neighbours first. Distances grow from 1, so that what is combined are always adjacent
// stretches of ranks: the order of ranks is kept.
#include "algorithms.h"

namespace base {
namespace {

constexpr uint32_t kDimensions = 32;

// Ranks 0 .. 2 * excess - 1 go in pairs: the even one hands its operand to the odd one, and stays
// outside of the cube.
class Cube {
 public:
  explicit Cube(const Run& run) : Cube(run.info->size, run.info->rank) {}
  Cube(uint32_t size, uint32_t rank) {
    while ((uint64_t{2} << dimensions_) <= size) ++dimensions_;
    excess_ = size - corners();
    outside_ = rank < 2 * excess_ && rank % 2 == 0;
    paired_ = rank < 2 * excess_;
    corner_ = paired_ ? rank / 2 : rank - excess_;
  }
  uint32_t dimensions() const { return dimensions_; }
  uint32_t corners() const { return 1u << dimensions_; }
  bool outside() const { return outside_; }
  bool paired() const { return paired_; }
  uint32_t corner() const { return corner_; }  // of the pair, for a rank outside
  uint32_t rank_of(uint32_t corner) const {
    return corner < excess_ ? 2 * corner + 1 : corner + excess_;
  }
  uint32_t peer(uint32_t k) const { return rank_of(corner_ ^ (1u << k)); }  // along dimension k
  // Channel k serves dimension k; one more serves the pairs, where there are any: channels share
  // the scratch.
  uint32_t pair_channel() const { return dimensions_; }
  uint32_t channels() const { return dimensions_ + (excess_ != 0 ? 1 : 0); }

 private:
  uint32_t dimensions_ = 0, excess_ = 0, corner_ = 0;
  bool outside_ = false, paired_ = false;
};

// The operand that the cube works on: where this member's operand is, and the last action that
// wrote it.
struct Operand {
  const uint8_t* at;
  int32_t last;
};

// The odd rank of a pair takes the even one's operand on its left.
Operand take_pair(const Run& run, const Cube& cube, uint8_t* into) {
  const auto* src = static_cast<const uint8_t*>(run.args->src);
  if (!cube.paired()) return {src, kNone};
  const int32_t last =
      fold(run, run.info->rank - 1, cube.pair_channel(), into, src, total_bytes(run), true);
  return {into, last};
}

// The even rank of a pair: its operand goes, and a result comes where one is wanted.
void stay_outside(const Run& run, const Cube& cube, bool has_result) {
  const uint32_t partner = run.info->rank + 1;
  const uint64_t bytes = total_bytes(run);
  const int32_t gone = send(run, partner, cube.pair_channel(), run.args->src, bytes);
  if (has_result)
    receive(run, partner, cube.pair_channel(), run.args->dst, bytes, {gone, 0, kNone});
}

// Elements [from, to) this member still answers for.
struct Range {
  uint64_t from, to;
};

// Recursive halving: after dimension k a member answers for a 2^(k+1)-th of the elements, combined
// over a stretch of 2^(k+1) corners. `ranges[k]` is what it answered for before dimension k.
Operand halve(const Run& run, const Cube& cube, Operand mine, uint8_t* into, Range* ranges) {
  const uint64_t element = run.args->element_bytes;
  Range range{0, run.args->count};
  for (uint32_t k = 0; k < cube.dimensions(); ++k) {
    ranges[k] = range;
    const uint64_t middle = range.from + (range.to - range.from) / 2;
    const bool low = (cube.corner() >> k & 1) == 0;
    const Range keep = low ? Range{range.from, middle} : Range{middle, range.to};
    const Range give = low ? Range{middle, range.to} : Range{range.from, middle};
    const uint32_t peer = cube.peer(k);
    // The last action covers `range`, from its first byte.
    const uint64_t give_skip = mine.last == kNone ? 0 : (give.from - range.from) * element;
    const uint64_t keep_skip = mine.last == kNone ? 0 : (keep.from - range.from) * element;
    send(run, peer, k, mine.at + give.from * element, (give.to - give.from) * element,
         {mine.last, give_skip, kNone});
    const int32_t last =
        fold(run, peer, k, into + keep.from * element, mine.at + keep.from * element,
             (keep.to - keep.from) * element, !low, {mine.last, keep_skip, kNone});
    mine = {into, last};
    range = keep;
  }
  ranges[cube.dimensions()] = range;
  return mine;
}

Range sibling(const Range& parent, const Range& half) {
  return half.from == parent.from ? Range{half.to, parent.to} : Range{parent.from, half.from};
}

// The step back through dimension k, behind `last`: this side's half goes to the peer, or the
// peer's comes, or both.
int32_t join_halves(const Run& run, const Cube& cube, uint32_t k, uint8_t* at, const Range* ranges,
                    bool gives, bool takes, int32_t last) {
  const uint64_t element = run.args->element_bytes;
  const Range own = ranges[k + 1], other = sibling(ranges[k], own);
  const When when{kNone, 0, last};
  if (gives)
    send(run, cube.peer(k), k, at + own.from * element, (own.to - own.from) * element, when);
  if (!takes) return last;
  return receive(run, cube.peer(k), k, at + other.from * element, (other.to - other.from) * element,
                 when);
}

}  // namespace

void reduce_all_doubling(const Run& run) {
  const Cube cube(run);
  begin(run, cube.channels(), 3 * cube.dimensions() + 8);
  auto* dst = static_cast<uint8_t*>(run.args->dst);
  const uint64_t bytes = total_bytes(run);
  if (cube.outside()) return stay_outside(run, cube, true);
  Operand mine = take_pair(run, cube, dst);
  for (uint32_t k = 0; k < cube.dimensions(); ++k) {
    const uint32_t peer = cube.peer(k);
    const bool peer_is_lower = (cube.corner() >> k & 1) != 0;
    const int32_t gone = send(run, peer, k, mine.at, bytes, {mine.last, 0, kNone});
    // Not before the old bytes have gone; they had been complete by then.
    mine = {dst, fold(run, peer, k, dst, mine.at, bytes, peer_is_lower, {gone, 0, kNone})};
  }
  if (mine.at != dst) mine = {dst, copy(run, dst, mine.at, bytes)};  // a team of one
  if (cube.paired())
    send(run, run.info->rank - 1, cube.pair_channel(), dst, bytes, {mine.last, 0, kNone});
}

void reduce_all_rabenseifner(const Run& run) {
  const Cube cube(run);
  begin(run, cube.channels(), 5 * cube.dimensions() + 8);
  auto* dst = static_cast<uint8_t*>(run.args->dst);
  const uint64_t bytes = total_bytes(run);
  if (cube.outside()) return stay_outside(run, cube, true);
  Range ranges[kDimensions + 1];
  Operand mine = halve(run, cube, take_pair(run, cube, dst), dst, ranges);
  if (mine.at != dst) mine = {dst, copy(run, dst, mine.at, bytes)};  // a team of one
  // Back through the dimensions, exchanging what each side has completed.
  int32_t last = mine.last;
  for (uint32_t k = cube.dimensions(); k-- != 0;)
    last = join_halves(run, cube, k, dst, ranges, true, true, last);
  if (cube.paired())
    send(run, run.info->rank - 1, cube.pair_channel(), dst, bytes, {kNone, 0, last});
}

// The second half gathers towards the root's corner only.
void reduce_one_rabenseifner(const Run& run) {
  const Cube cube(run);
  begin(run, cube.channels(), 4 * cube.dimensions() + 10);
  const Cube target(run.info->size, run.args->root);
  const uint64_t bytes = total_bytes(run);
  const bool is_root = run.info->rank == run.args->root;
  if (cube.outside()) return stay_outside(run, cube, is_root);
  auto* into = static_cast<uint8_t*>(is_root ? run.args->dst : memory(run, bytes));
  Range ranges[kDimensions + 1];
  Operand mine = halve(run, cube, take_pair(run, cube, into), into, ranges);
  if (mine.at != into) mine = {into, copy(run, into, mine.at, bytes)};  // a team of one
  int32_t last = mine.last;
  for (uint32_t k = cube.dimensions(); k-- != 0;) {
    const bool gives = ((cube.corner() ^ target.corner()) >> k & 1) != 0;
    last = join_halves(run, cube, k, into, ranges, gives, !gives, last);
    if (gives) return;
  }
  if (target.outside())
    send(run, run.args->root, cube.pair_channel(), into, bytes, {kNone, 0, last});
}

}  // namespace base
