// What the cases of the collectives share: operands whose combination shows every mistake.
#pragma once

#include <gasnet_coll.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "../harness.h"

namespace coll {

using spec::job;

inline void wait(gex_Event_t event) {
  gex_Event_Wait(event);
}

// Sizes around the borders of pieces, slots and scratch, up to several times the scratch.
inline const std::vector<size_t>& counts() {
  static const std::vector<size_t> all{1, 2, 3, 7, 64, 1000, 4097, 40001, 300007};
  return all;
}

// An element that does not commute: the map x -> a * x + b, 32-bit arithmetic; a is odd, so nothing
// is lost and a wrong order shows.
struct Affine {
  uint32_t a, b;
  bool operator==(const Affine&) const = default;
};
inline Affine affine_of(gex_Rank_t rank, size_t i) {
  return {static_cast<uint32_t>(2 * (rank * 31 + i) + 1), static_cast<uint32_t>(rank * 7919 + i)};
}
inline Affine compose(Affine left, Affine right) {
  return {right.a * left.a, right.a * left.b + right.b};
}
inline void compose_all(const void* left, void* right, size_t count, const void*) {
  auto* l = static_cast<const Affine*>(left);
  auto* r = static_cast<Affine*>(right);
  for (size_t i = 0; i < count; ++i) r[i] = compose(l[i], r[i]);
}
inline Affine composed(size_t i) {
  Affine all = affine_of(0, i);
  for (gex_Rank_t r = 1; r < job().size; ++r) all = compose(all, affine_of(r, i));
  return all;
}

// A guard behind a buffer, to find writes beyond its end.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count) : count_(count), bytes_(count * sizeof(T) + kGuard, 0xe7) {}
  T* data() { return reinterpret_cast<T*>(bytes_.data()); }
  T& operator[](size_t i) { return data()[i]; }
  bool intact() const {
    for (size_t i = count_ * sizeof(T); i < bytes_.size(); ++i)
      if (bytes_[i] != 0xe7) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  size_t count_;
  std::vector<uint8_t> bytes_;
};

}  // namespace coll
