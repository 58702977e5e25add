#include "reduction.h"

#include <algorithm>
#include <cstring>

#include "../spec/gex/reduction_model.h"
#include "random.h"

namespace storm {
namespace {

// x -> a * x + b in 32 bits: does not commute, and with an odd a nothing is lost.
struct Affine {
  uint32_t a, b;
};

void compose(const void* left, void* right, size_t count, const void* cdata) {
  const size_t each = reinterpret_cast<size_t>(cdata) / sizeof(Affine);
  auto* l = static_cast<const Affine*>(left);
  auto* r = static_cast<Affine*>(right);
  for (size_t i = 0; i < count * each; ++i) r[i] = {r[i].a * l[i].a, r[i].a * l[i].b + r[i].b};
}

void add_bytes(const void* left, void* right, size_t count, const void* cdata) {
  const size_t bytes = reinterpret_cast<size_t>(cdata) * count;
  auto* l = static_cast<const unsigned char*>(left);
  auto* r = static_cast<unsigned char*>(right);
  for (size_t i = 0; i < bytes; ++i) r[i] = static_cast<unsigned char>(r[i] + l[i]);
}

template <class T>
void combine_typed(gex_OP_t op, const void* left, void* right, size_t count) {
  // Signed numbers wrap like unsigned ones.
  auto* l = static_cast<const T*>(left);
  auto* r = static_cast<T*>(right);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      if (op == GEX_OP_ADD || op == GEX_OP_MULT) {
        r[i] = static_cast<T>(reduction::apply<U>(op, static_cast<U>(l[i]), static_cast<U>(r[i])));
        continue;
      }
    }
    r[i] = reduction::apply<T>(op, l[i], r[i]);
  }
}

// Small whole numbers and powers of two: sums and products of them are exact.
template <class T>
void fill_floating(void* memory, size_t count, gex_OP_t op, Stamp stamp) {
  auto* out = static_cast<T*>(memory);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word = stamp_word(stamp, i);
    out[i] = op == GEX_OP_MULT ? static_cast<T>(word % 2 == 0 ? 2 : -1)
                               : static_cast<T>(static_cast<int>(word % 2001) - 1000);
  }
}

}  // namespace

gex_Coll_ReduceFn_t Reduction::user() const {
  return op == GEX_OP_USER_NC ? compose : op == GEX_OP_USER ? add_bytes : nullptr;
}

void Reduction::fill(void* memory, Stamp stamp) const {
  if (dt == GEX_DT_FLT) return fill_floating<float>(memory, count, op, stamp);
  if (dt == GEX_DT_DBL) return fill_floating<double>(memory, count, op, stamp);
  storm::fill(memory, bytes(), stamp);
  if (op == GEX_OP_USER_NC)
    for (size_t i = 0; i < bytes() / sizeof(Affine); ++i) static_cast<Affine*>(memory)[i].a |= 1;
}

std::vector<std::byte> Reduction::combine(Stamp stamp, const std::vector<uint8_t>& writers) const {
  std::vector<std::byte> all(bytes()), one(bytes());
  stamp.writer = writers.back();
  fill(all.data(), stamp);
  for (size_t i = writers.size() - 1; i-- > 0;) {
    stamp.writer = writers[i];
    fill(one.data(), stamp);
    switch (dt) {
      case GEX_DT_I32:
        combine_typed<int32_t>(op, one.data(), all.data(), count);
        break;
      case GEX_DT_U32:
        combine_typed<uint32_t>(op, one.data(), all.data(), count);
        break;
      case GEX_DT_I64:
        combine_typed<int64_t>(op, one.data(), all.data(), count);
        break;
      case GEX_DT_U64:
        combine_typed<uint64_t>(op, one.data(), all.data(), count);
        break;
      case GEX_DT_FLT:
        combine_typed<float>(op, one.data(), all.data(), count);
        break;
      case GEX_DT_DBL:
        combine_typed<double>(op, one.data(), all.data(), count);
        break;
      default:
        user()(one.data(), all.data(), count, cdata());
        break;
    }
  }
  return all;
}

Reduction random_reduction(Random& random, size_t most) {
  const size_t wanted = random.size(most);
  const gex_DT_t dt = random.one_of({GEX_DT_I32, GEX_DT_U32, GEX_DT_I64, GEX_DT_U64, GEX_DT_FLT,
                                     GEX_DT_DBL, GEX_DT_USER, GEX_DT_USER});
  if (dt != GEX_DT_USER) {
    const size_t element = dt == GEX_DT_I32 || dt == GEX_DT_U32 || dt == GEX_DT_FLT ? 4 : 8;
    const bool whole = dt != GEX_DT_FLT && dt != GEX_DT_DBL;
    const gex_OP_t op = whole ? random.one_of({GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX,
                                               GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR})
                              : random.one_of({GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX});
    return {dt, op, element, std::max<size_t>(wanted / element, 1)};
  }
  // Few large elements as well as many small ones.
  const size_t large = random.one_of<size_t>(
      {8, 24, 104, 600, 1496, 3000, 4504, 6000, 8000, 8128, 9000, 20000, 40000});
  const size_t element = std::min(large, most);
  if (random.chance(50)) {
    return {dt, GEX_OP_USER_NC, element / 8 * 8,
            random.chance(50) ? random.within(1, 3) : std::max<size_t>(wanted / element, 1)};
  }
  const size_t odd = element > 8 ? element - random.below(4) : random.within(1, 8);
  return {dt, GEX_OP_USER, odd,
          random.chance(50) ? random.within(1, 3) : std::max<size_t>(wanted / odd, 1)};
}

}  // namespace storm
