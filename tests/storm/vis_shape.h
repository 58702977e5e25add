// The shape of a vector, indexed or strided transfer: where the stream of its bytes lies at one
// end.
#pragma once

#include <cstddef>
#include <vector>

#include "random.h"

namespace storm {

enum class Form : unsigned { vector, indexed, strided };

struct Range {
  size_t at, bytes;
};

// A section of an array, as the calls take it.
struct Section {
  size_t element = 0;
  std::vector<size_t> counts;
  std::vector<ptrdiff_t> strides;
};

// An end of a transfer. Two ends of one transfer have the same total, and of a strided one the
// same element and counts.
struct Lay {
  std::vector<Range> ranges;  // in the order of the stream
  Section section;            // of Form::strided
  size_t extent = 0;          // bytes from the first to behind the last
};

// The far end, of at most `extent` bytes.
Lay random_end(Form form, Random& random, size_t extent);
// An end to go with it.
Lay matching_end(Form form, const Lay& far, Random& random);
size_t total_of(const Lay& end);

}  // namespace storm
