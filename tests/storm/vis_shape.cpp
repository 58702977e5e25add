#include "vis_shape.h"

#include <algorithm>

namespace storm {
namespace {

void append(Lay& end, size_t bytes, size_t gap) {
  end.ranges.push_back({end.extent, bytes});
  end.extent += bytes + gap;
}

// Cuts `total` into pieces with gaps between them.
Lay cut(size_t total, Random& random, size_t most_gap) {
  Lay end;
  const size_t pieces = random.within(1, random.chance(20) ? 60 : 8);
  for (size_t left = total; left > 0;) {
    const bool last = end.ranges.size() + 1 == pieces;
    const size_t bytes = last ? left : std::min(left, random.within(1, 2 * total / pieces + 1));
    append(end, bytes, random.below(most_gap + 1));
    left -= bytes;
  }
  return end;
}

Lay equal_pieces(size_t bytes, size_t count, Random& random, size_t most_gap) {
  Lay end;
  for (size_t i = 0; i < count; ++i) append(end, bytes, random.below(most_gap + 1));
  return end;
}

// Strides that grow with the dimension, with room beside each row.
Lay make_section(size_t element, const std::vector<size_t>& counts, Random& random,
                 size_t most_gap) {
  Lay end;
  end.section = {element, counts, {}};
  size_t reach = element;
  for (const size_t count : counts) {
    const size_t stride = reach + random.below(most_gap + 1);
    end.section.strides.push_back(static_cast<ptrdiff_t>(stride));
    reach = stride * (count - 1) + reach;
  }
  end.extent = reach;
  std::vector<size_t> at(counts.size());
  for (;;) {
    size_t offset = 0;
    for (size_t d = 0; d < counts.size(); ++d)
      offset += at[d] * static_cast<size_t>(end.section.strides[d]);
    end.ranges.push_back({offset, element});
    size_t d = 0;
    while (d < counts.size() && ++at[d] == counts[d]) at[d++] = 0;
    if (d == counts.size()) return end;
  }
}

Lay try_end(Form form, Random& random, size_t extent) {
  if (form == Form::vector) return cut(std::max<size_t>(random.size(extent), 1), random, 24);
  if (form == Form::indexed) {
    const size_t bytes = random.within(1, random.chance(30) ? 4000 : 200);
    return equal_pieces(bytes, random.within(1, random.chance(20) ? 100 : 12), random, 24);
  }
  std::vector<size_t> counts(random.below(4));
  for (size_t& count : counts) count = random.within(1, 9);
  return make_section(random.within(1, random.chance(30) ? 3000 : 100), counts, random, 20);
}

}  // namespace

size_t total_of(const Lay& end) {
  size_t total = 0;
  for (const Range& range : end.ranges) total += range.bytes;
  return total;
}

Lay random_end(Form form, Random& random, size_t extent) {
  for (;;) {
    Lay end = try_end(form, random, extent / 2);
    if (end.extent <= extent) return end;
  }
}

Lay matching_end(Form form, const Lay& far, Random& random) {
  const size_t total = total_of(far);
  const size_t gap = random.chance(50) ? 0 : 12;
  if (form == Form::vector) return cut(total, random, gap);
  if (form == Form::strided)
    return make_section(far.section.element, far.section.counts, random, gap);
  // Pieces of another length, where it divides the total.
  const size_t bytes = far.ranges[0].bytes, count = far.ranges.size();
  switch (random.below(3)) {
    case 0:
      return equal_pieces(total, 1, random, gap);
    case 1:
      if (count % 2 == 0) return equal_pieces(2 * bytes, count / 2, random, gap);
      break;
    default:
      break;
  }
  return equal_pieces(bytes, count, random, gap);
}

}  // namespace storm
