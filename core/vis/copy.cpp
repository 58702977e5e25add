#include "vis/copy.h"

#include <algorithm>
#include <cstring>

namespace causeway {
namespace {

// A copy of a size that the compiler knows is a few moves instead of a call. `Size` 0: the size is
// known at run time only.
template <size_t Size>
inline void copy_one(char* dst, const char* src, size_t elem) {
  std::memcpy(dst, src, Size != 0 ? Size : elem);
}

// Calls body with the size as a constant where there is a loop of its own for it.
template <typename Body>
inline void with_size(size_t elem, Body&& body) {
  switch (elem) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 4:
      return body.template operator()<4>();
    case 8:
      return body.template operator()<8>();
    case 16:
      return body.template operator()<16>();
    case 32:
      return body.template operator()<32>();
    case 64:
      return body.template operator()<64>();
    default:
      return body.template operator()<0>();
  }
}

// Words go four at a time: a loop of six instructions takes up to twice as long where the linker
// lays it across two lines of the processor's cache.
template <size_t Size>
void rows(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t count,
          size_t elem) {
  const auto next = [&] {
    copy_one<Size>(dst, src, elem);
    dst += dst_stride, src += src_stride;
  };
  if constexpr (Size == 4 || Size == 8)
    for (; count >= 4; count -= 4) next(), next(), next(), next();
  for (; count != 0; --count) next();
}

// Two levels of which one end runs along the one and the other end along the other, in squares that
// stay in the nearest cache: every line of the source is then fetched once, and not once per piece.
template <size_t Size>
void squares(const NestLevel& outer, const NestLevel& inner, char* dst, const char* src,
             size_t elem, size_t side) {
  for (size_t o = 0; o < outer.count; o += side) {
    const size_t rows_here = std::min(side, outer.count - o);
    for (size_t i = 0; i < inner.count; i += side) {
      const size_t pieces = std::min(side, inner.count - i);
      char* to =
          dst + static_cast<ptrdiff_t>(o) * outer.dst + static_cast<ptrdiff_t>(i) * inner.dst;
      const char* from =
          src + static_cast<ptrdiff_t>(o) * outer.src + static_cast<ptrdiff_t>(i) * inner.src;
      for (size_t r = 0; r < rows_here; ++r, to += outer.dst, from += outer.src)
        rows<Size>(to, inner.dst, from, inner.src, pieces, elem);
    }
  }
}

template <size_t Size>
void nested_squares(const NestLevel* level, char* dst, const char* src, const NestLevel* innermost,
                    size_t elem, size_t side) {
  if (level == innermost + 1) {
    squares<Size>(*level, *innermost, dst, src, elem, side);
    return;
  }
  for (size_t i = level->count; i != 0; --i, dst += level->dst, src += level->src)
    nested_squares<Size>(level - 1, dst, src, innermost, elem, side);
}

constexpr size_t kLine = 64;
// Squares of at least this many bytes to the row and pieces to the side.
constexpr size_t kSquareBytes = 4 * kLine, kLeastSide = 8;

size_t square_side(size_t elem) {
  return std::max(kSquareBytes / elem, kLeastSide);
}

// The level along which the source is dense although the destination is so along the innermost
// one; 0 where the order of the levels suits both ends, or there is little to gain.
size_t crossing_level(const Nest& nest) {
  const auto apart = [](ptrdiff_t stride) {
    return static_cast<size_t>(stride < 0 ? -stride : stride) >= kLine;
  };
  if (nest.elem >= kLine || !apart(nest.levels[0].src)) return 0;
  const size_t side = square_side(nest.elem);
  for (size_t i = 1; i < nest.level_count; ++i) {
    const NestLevel& level = nest.levels[i];
    if (!apart(level.src) && level.count > kLeastSide && nest.levels[0].count > side) return i;
  }
  return 0;
}

template <size_t Size>
void nested(const NestLevel* level, char* dst, const char* src, const NestLevel* innermost,
            size_t elem) {
  if (level == innermost) {
    rows<Size>(dst, level->dst, src, level->src, level->count, elem);
    return;
  }
  for (size_t i = level->count; i != 0; --i, dst += level->dst, src += level->src)
    nested<Size>(level - 1, dst, src, innermost, elem);
}

// Where the i-th piece of `elem` bytes of a list lies.
struct ByIndex {
  const Side& side;
  char* operator()(size_t i, size_t) const {
    return side.address(reinterpret_cast<uintptr_t>(side.indexed[i]));
  }
};
struct InARow {
  char* base;
  char* operator()(size_t i, size_t elem) const { return base + i * elem; }
};

template <typename Dst, typename Src>
void copy_equal(Dst dst, Src src, size_t count, size_t elem) {
  with_size(elem, [&]<size_t Size>() {
    for (size_t i = 0; i < count; ++i) copy_one<Size>(dst(i, elem), src(i, elem), elem);
  });
}

void copy_uneven(const Side& dst, const Side& src) {
  Walk walk{Cursor(dst), Cursor(src)};
  while (!walk.done()) {
    const size_t n = walk.piece();
    std::memcpy(walk.local.addr(), walk.remote.addr(), n);
    walk.advance(n);
  }
}

bool is_one_run_of(const Side& side, size_t bytes) {
  return side.runs == 1 && side.run_length == bytes;
}

}  // namespace

void copy_rows(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t count,
               size_t elem) {
  with_size(elem,
            [&]<size_t Size>() { rows<Size>(dst, dst_stride, src, src_stride, count, elem); });
}

void copy_nest(const Nest& nest, uintptr_t dst_bias, uintptr_t src_bias) {
  auto* const dst = reinterpret_cast<char*>(nest.dst + dst_bias);
  const auto* const src = reinterpret_cast<const char*>(nest.src + src_bias);
  if (nest.level_count == 0) {
    std::memcpy(dst, src, nest.elem);
    return;
  }
  if (const size_t crossing = crossing_level(nest); crossing != 0) {
    // The order of the levels is free: the crossing one comes next to the innermost.
    NestLevel levels[Nest::kMaxLevels];
    std::copy_n(nest.levels, nest.level_count, levels);
    std::rotate(levels + 1, levels + crossing, levels + crossing + 1);
    with_size(nest.elem, [&]<size_t Size>() {
      nested_squares<Size>(&levels[nest.level_count - 1], dst, src, &levels[0], nest.elem,
                           square_side(nest.elem));
    });
    return;
  }
  with_size(nest.elem, [&]<size_t Size>() {
    nested<Size>(&nest.levels[nest.level_count - 1], dst, src, &nest.levels[0], nest.elem);
  });
}

void copy_lists(const Side& dst, const Side& src) {
  if (dst.kind == Side::Kind::indexed && src.kind == Side::Kind::indexed) {
    if (dst.runs == src.runs && dst.run_length == src.run_length)
      return copy_equal(ByIndex{dst}, ByIndex{src}, dst.runs, dst.run_length);
    if (is_one_run_of(src, dst.runs * dst.run_length))
      return copy_equal(ByIndex{dst}, InARow{ByIndex{src}(0, 0)}, dst.runs, dst.run_length);
    if (is_one_run_of(dst, src.runs * src.run_length))
      return copy_equal(InARow{ByIndex{dst}(0, 0)}, ByIndex{src}, src.runs, src.run_length);
  }
  copy_uneven(dst, src);
}

}  // namespace causeway
