#include "vis/nest.h"

#include "base/fatal.h"

namespace causeway {
namespace {

size_t magnitude(ptrdiff_t stride) {
  return stride < 0 ? 0 - static_cast<size_t>(stride) : static_cast<size_t>(stride);
}

bool inner_to(const NestLevel& a, const NestLevel& b) {
  const size_t da = magnitude(a.dst), db = magnitude(b.dst);
  return da != db ? da < db : magnitude(a.src) < magnitude(b.src);
}

// The distance that `level` spans, as the stride of what is contiguous with it.
ptrdiff_t span(ptrdiff_t stride, size_t count) {
  return static_cast<ptrdiff_t>(static_cast<size_t>(stride) * count);
}

Side side_of(uintptr_t base, size_t elem, const NestLevel* levels, size_t count,
             ptrdiff_t NestLevel::*stride, Level* out) {
  Side side;
  side.kind = Side::Kind::strided;
  side.base = base;
  side.run_length = elem;
  side.runs = 1;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const Level level{levels[i].count, levels[i].*stride};
    if (kept == 0 && level.stride == static_cast<ptrdiff_t>(side.run_length)) {
      side.run_length *= level.count;
      continue;
    }
    side.runs *= level.count;
    if (kept != 0 && level.stride == span(out[kept - 1].stride, out[kept - 1].count))
      out[kept - 1].count *= level.count;
    else
      out[kept++] = level;
  }
  side.levels = out;
  side.level_count = kept;
  return side;
}

}  // namespace

// Insertion sort while the levels arrive: there are few, and usually they are in order.
void Nest::insert(NestLevel level) {
  if (level.dst < 0) {
    // Begin at the other end of this level, at both ends of the transfer.
    dst += static_cast<uintptr_t>(level.dst) * (level.count - 1);
    src += static_cast<uintptr_t>(level.src) * (level.count - 1);
    level.dst = static_cast<ptrdiff_t>(0 - static_cast<size_t>(level.dst));
    level.src = static_cast<ptrdiff_t>(0 - static_cast<size_t>(level.src));
  }
  size_t at = level_count++;
  for (; at != 0 && inner_to(level, levels[at - 1]); --at) levels[at] = levels[at - 1];
  levels[at] = level;
}

void Nest::join() {
  size_t kept = 0;
  for (size_t i = 0; i < level_count; ++i) {
    const NestLevel level = levels[i];
    const auto bytes = static_cast<ptrdiff_t>(elem);
    if (kept == 0 && level.dst == bytes && level.src == bytes) {
      elem *= level.count;
      continue;
    }
    NestLevel* const inner = kept != 0 ? &levels[kept - 1] : nullptr;
    if (inner != nullptr && level.dst == span(inner->dst, inner->count) &&
        level.src == span(inner->src, inner->count))
      inner->count *= level.count;
    else
      levels[kept++] = level;
  }
  level_count = kept;
}

bool Nest::fold(const char* call, void* dst_addr, const ptrdiff_t* dst_strides, void* src_addr,
                const ptrdiff_t* src_strides, size_t elemsz, const size_t* count,
                size_t stridelevels) {
  if (elemsz == 0) return false;
  dst = reinterpret_cast<uintptr_t>(dst_addr);
  src = reinterpret_cast<uintptr_t>(src_addr);
  elem = elemsz;
  level_count = 0;
  for (size_t i = 0; i < stridelevels; ++i)
    if (count[i] == 0) return false;
  for (size_t i = 0; i < stridelevels; ++i) {
    if (count[i] == 1) continue;
    if (level_count == kMaxLevels) {
      fatal(call, "more than {} of the {} levels have a count over 1: the destination overlaps",
            kMaxLevels, stridelevels);
    }
    insert({count[i], dst_strides[i], src_strides[i]});
  }
  join();
  return true;
}

Side Nest::dst_side(Level* storage) const {
  return side_of(dst, elem, levels, level_count, &NestLevel::dst, storage);
}

Side Nest::src_side(Level* storage) const {
  return side_of(src, elem, levels, level_count, &NestLevel::src, storage);
}

}  // namespace causeway
