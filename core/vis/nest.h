// Nest: both ends of a strided transfer as one nest of loops, folded to its simplest form.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vis/side.h"

namespace causeway {

struct NestLevel {
  size_t count;
  ptrdiff_t dst, src;  // strides in bytes
};

struct Nest {
  // Every level kept has a count of 2 or more, and the destination's bytes are distinct, so that
  // no address space holds a transfer of more levels.
  static constexpr size_t kMaxLevels = 8 * sizeof(uintptr_t);

  uintptr_t dst;
  uintptr_t src;
  size_t elem;  // contiguous bytes at both ends
  size_t level_count;
  NestLevel levels[kMaxLevels];  // innermost first; only the first level_count are set

  // Folds the arguments of a strided call: drops levels of one element, turns levels around whose
  // destination runs backwards, orders levels by the destination's stride, joins what is
  // contiguous. The set of bytes that move where stays the same; their order was never promised.
  // False when nothing is to be moved. Ends the job, naming `call`, when there are more levels
  // than any destination has room for.
  bool fold(const char* call, void* dst_addr, const ptrdiff_t* dst_strides, void* src_addr,
            const ptrdiff_t* src_strides, size_t elemsz, const size_t* count, size_t stridelevels);

  // An end as a Side whose levels lie in `storage` (kMaxLevels of them), folded further as far as
  // that end alone allows.
  Side dst_side(Level* storage) const;
  Side src_side(Level* storage) const;

 private:
  void insert(NestLevel level);
  void join();
};

}  // namespace causeway
