#include "atomic_words.h"

#include <limits>

namespace storm {
namespace {

template <class T>
T any_value(Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<int>(random.below(101)) - 50);
  } else {
    const uint64_t word = random.next();
    return static_cast<T>(random.chance(50) ? word % 7 : word);
  }
}

// With their fetching twins, ten bits up.
template <class T>
gex_OP_t commuting(Use use, Random& random) {
  gex_OP_t op = GEX_OP_ADD;
  switch (use) {
    case Use::product:
      op = GEX_OP_MULT;
      break;
    case Use::least:
      op = GEX_OP_MIN;
      break;
    case Use::most:
      op = GEX_OP_MAX;
      break;
    case Use::all_bits:
      op = GEX_OP_AND;
      break;
    case Use::any_bit:
      op = GEX_OP_OR;
      break;
    case Use::parity:
      op = GEX_OP_XOR;
      break;
    default:
      op = random.one_of({GEX_OP_ADD, GEX_OP_SUB, GEX_OP_INC, GEX_OP_DEC});
      break;
  }
  return random.chance(50) ? GEX_OP_TO_FETCHING(op) : op;
}

template <class T>
gex_OP_t any_op(Random& random, bool fetching) {
  for (;;) {
    const gex_OP_t op = gex_OP_t{1} << random.below(25);
    if ((op & atomics::all_ops<T>()) != 0 && (!fetching || atomics::fetches(op))) return op;
  }
}

template <class T>
T operand(Use use, gex_OP_t op, Random& random) {
  const T value = any_value<T>(random);
  const bool multiplies = op == GEX_OP_MULT || op == GEX_OP_FMULT;
  if constexpr (std::is_floating_point_v<T>) {
    if (multiplies) return random.chance(50) ? T(1) : T(-1);
  } else {
    if (multiplies) return static_cast<T>(value | 1);
    // A bit, or all but one: else all are as they will be after a few.
    const auto bit = static_cast<T>(uint64_t{1} << random.below(8 * sizeof(T)));
    if (use == Use::any_bit) return bit;
    if (use == Use::all_bits) return static_cast<T>(~bit);
  }
  return value;
}

}  // namespace

template <class T>
Operation<T> operation_of(const Step& step, Actor actor, unsigned i) {
  Random own(mix(mix(step.key, uint64_t{50000} + actor.number()), i));
  Operation<T> o;
  o.target = static_cast<gex_Rank_t>(own.below(world().size));
  constexpr bool whole = std::is_integral_v<T>;
  o.use = own.chance(30)   ? Use::own
          : own.chance(30) ? Use::chain
          : whole ? own.one_of({Use::sum, Use::product, Use::least, Use::most, Use::all_bits,
                                Use::any_bit, Use::parity})
                  : own.one_of({Use::sum, Use::product, Use::least, Use::most});
  o.index = static_cast<unsigned>(own.below(kOwnWords));
  o.op = o.use == Use::own     ? any_op<T>(own, false)
         : o.use == Use::chain ? any_op<T>(own, true)
                               : commuting<T>(o.use, own);
  o.a = operand<T>(o.use, o.op, own);
  o.b = any_value<T>(own);
  o.hit = own.chance(70);
  return o;
}

template Operation<int32_t> operation_of(const Step&, Actor, unsigned);
template Operation<uint32_t> operation_of(const Step&, Actor, unsigned);
template Operation<int64_t> operation_of(const Step&, Actor, unsigned);
template Operation<uint64_t> operation_of(const Step&, Actor, unsigned);
template Operation<float> operation_of(const Step&, Actor, unsigned);
template Operation<double> operation_of(const Step&, Actor, unsigned);

}  // namespace storm
