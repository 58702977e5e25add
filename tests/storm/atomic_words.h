// Where words for atomics lie, and which operation a step does on one: pure functions, so that the
// owner of a word knows what all others have done to it.
#pragma once

#include <limits>

#include "../spec/gex/atomic_model.h"
#include "world.h"

namespace storm {

// The knowledge of a word follows from who changes it and how.
enum class Use : unsigned {
  own,  // by one actor alone, in every way: each value is known
  // By everybody, with operations that commute: the result is known when all have ended.
  sum,
  product,
  least,
  most,
  all_bits,
  any_bit,
  parity,
  // By everybody, in every way that fetches. Each then knows which value it replaced by which, and
  // these steps have to make up one chain from the first value to the last.
  chain,
};
inline constexpr unsigned kShared = 8;    // uses that are everybody's
inline constexpr unsigned kOwnWords = 2;  // of an actor, for each type
inline constexpr unsigned kTypes = 6;     // in the order of atomics::Types
template <class T>
inline constexpr unsigned kType = [] {
  return std::is_same_v<T, int32_t>    ? 0u
         : std::is_same_v<T, uint32_t> ? 1u
         : std::is_same_v<T, float>    ? 2u
         : std::is_same_v<T, int64_t>  ? 3u
         : std::is_same_v<T, uint64_t> ? 4u
                                       : 5u;
}();

// Words of all types side by side, short ones first, each in its natural place: `count` of each
// type.
inline constexpr size_t block_bytes(unsigned count) {
  return count * size_t{3 * 4 + 3 * 8};
}
template <class T>
constexpr size_t in_block(unsigned count, unsigned index) {
  const size_t before = kType<T> < 3 ? kType<T> * size_t{4} : 12 + (kType<T> - 3) * size_t{8};
  return before * count + index * sizeof(T);
}

// Offsets into a segment.
template <class T>
constexpr size_t shared_word(Use use) {
  return World::words_at() +
         in_block<T>(kShared, static_cast<unsigned>(use) - static_cast<unsigned>(Use::sum));
}
template <class T>
constexpr size_t own_word(Actor actor, unsigned index) {
  return World::words_at() + block_bytes(kShared) + actor.number() * block_bytes(kOwnWords) +
         in_block<T>(kOwnWords, index);
}
// A further word of each rank, for domains of a team.
inline size_t guest_word(gex_Rank_t guest) {
  return World::words_at() + kWords / 2 + guest * size_t{8};
}

template <class T>
struct Operation {
  gex_Rank_t target = 0;
  Use use = Use::own;
  unsigned index = 0;  // of own words
  gex_OP_t op = 0;
  T a{}, b{};
  bool hit = false;  // a compare-and-swap that compares with what is there
  size_t offset(Actor actor) const {
    return use == Use::own ? own_word<T>(actor, index) : shared_word<T>(use);
  }
};

// The contents of a shared word at the beginning of an epoch.
template <class T>
T first_value(Use use) {
  switch (use) {
    case Use::product:
      return T(1);
    case Use::least:
      return std::numeric_limits<T>::max();
    case Use::most:
      return std::numeric_limits<T>::lowest();
    case Use::all_bits:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(~T(0));
      return T(0);
    default:
      return T(0);
  }
}

// Number `i` of the step's operations. Floating-point operands are small whole numbers, so that
// sums are exact in any order.
template <class T>
Operation<T> operation_of(const Step& step, Actor actor, unsigned i);

// Calls body.operator()<T>() for the type of the step's operations.
template <class Body>
void with_type(unsigned type, Body&& body) {
  switch (type) {
    case 0:
      return body(int32_t{});
    case 1:
      return body(uint32_t{});
    case 2:
      return body(float{});
    case 3:
      return body(int64_t{});
    case 4:
      return body(uint64_t{});
    default:
      return body(double{});
  }
}

struct AtomicPlan {
  unsigned type = 0, count = 1;
  AtomicPlan(const Step& step, Actor actor) {
    Random own = step.of(actor);
    type = static_cast<unsigned>(own.below(kTypes));
    count = static_cast<unsigned>(own.within(1, 5));
  }
};

}  // namespace storm
