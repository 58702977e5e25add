// Operands of reductions whose combination shows every mistake, and what comes out.
#pragma once

#include <gasnet_coll.h>

#include <vector>

#include "stamp.h"

namespace storm {

// A type and an operation that give exact results in any order that the operation allows.
struct Reduction {
  gex_DT_t dt;
  gex_OP_t op;
  size_t element;  // bytes
  size_t count;

  size_t bytes() const { return element * count; }
  gex_Coll_ReduceFn_t user() const;
  // user_cdata: the function needs the element's size.
  void* cdata() const { return reinterpret_cast<void*>(element); }
  // The operand of a writer.
  void fill(void* memory, Stamp stamp) const;
  // The result if the writers are combined in this order.
  std::vector<std::byte> combine(Stamp stamp, const std::vector<uint8_t>& writers) const;
};

// `most`: bytes.
Reduction random_reduction(class Random& random, size_t most);

}  // namespace storm
