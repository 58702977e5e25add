// Degenerate and regular shapes of vector, indexed and strided transfers.
#include "vis_model.h"

using spec::job;

namespace {

vis::Ends far(gex_Rank_t rank) {
  return {job().tm, rank, nullptr, vis::arena(rank)};
}

template <typename Transfer>
void check(Transfer transfer, size_t size) {
  vis::agrees(transfer, far(job().peer()), 4711, size);
}

}  // namespace

// A transfer of nothing looks at nothing: neither rank nor addresses have to exist. Would catch a
// NULL that is followed, and an event for something that never happens.
SPEC_CASE(vis_edges, nothing) {
  const gex_Rank_t nobody = job().size + 1000;
  const ptrdiff_t strides[] = {8, 64};
  const size_t none[] = {4, 0};
  const gex_TM_t tm = job().tm;
  CHECK_EQ(gex_VIS_VectorPutBlocking(tm, nobody, 0, nullptr, 0, nullptr, 0), 0);
  CHECK_EQ(gex_VIS_VectorGetNBI(tm, 0, nullptr, nobody, 0, nullptr, 0), 0);
  CHECK(gex_VIS_VectorPutNB(tm, nobody, 0, nullptr, 0, nullptr, 0) == GEX_EVENT_INVALID);
  CHECK_EQ(gex_VIS_IndexedPutBlocking(tm, nobody, 0, nullptr, 8, 0, nullptr, 8, 0), 0);
  CHECK(gex_VIS_IndexedGetNB(tm, 0, nullptr, 8, nobody, 0, nullptr, 8, 0) == GEX_EVENT_INVALID);
  // elemsz 0: everything else is ignored.
  CHECK_EQ(gex_VIS_StridedPutBlocking(GEX_TM_INVALID, nobody, nullptr, nullptr, nullptr, nullptr, 0,
                                      nullptr, 7, 0),
           0);
  // A count of 0: team, rank and addresses are ignored.
  CHECK_EQ(gex_VIS_StridedPutNBI(GEX_TM_INVALID, nobody, nullptr, strides, nullptr, strides, 8,
                                 none, 2, 0),
           0);
  CHECK(gex_VIS_StridedGetNB(GEX_TM_INVALID, nullptr, strides, nobody, nullptr, strides, 8, none, 2,
                             0) == GEX_EVENT_INVALID);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  // Pieces of no bytes, at a peer that exists.
  const gex_Memvec_t empty[] = {{nullptr, 0}, {nullptr, 0}};
  CHECK_EQ(gex_VIS_VectorPutBlocking(tm, job().peer(), 2, empty, 1, empty, 0), 0);
  spec::barrier();
}

// Without levels the other arrays are ignored, and with levels of one element they say nothing.
SPEC_CASE(vis_edges, contiguous) {
  for (const size_t bytes : {size_t{1}, size_t{8}, size_t{100}, size_t{5000}, size_t{70000}}) {
    const size_t size = bytes + 64;
    check(vis::Strided(16, {}, 32, {}, bytes, {}), size);
    check(vis::Strided(16, {5, -9000}, 32, {7, 123456}, bytes, {1, 1}), size);
    check(vis::Vector({{8, bytes}}, {{40, bytes}}), size);
    check(vis::Indexed({8}, bytes, {40}, bytes), size);
  }
  // Levels that continue one another are one run, forwards and backwards.
  check(vis::Strided(0, {8, 64, 512}, 64, {8, 64, 512}, 8, {8, 8, 8}), 8192);
  check(vis::Strided(4088, {-8, -64, -512}, 5000, {-8, -64, -512}, 8, {8, 8, 8}), 8192);
  spec::barrier();
}

// A matrix of elements of each size that has a loop of its own, transposed, mirrored, and with one
// end contiguous.
SPEC_CASE(vis_edges, matrices) {
  for (const size_t elem : {1, 2, 3, 4, 8, 16, 32, 64, 96}) {
    const auto e = static_cast<ptrdiff_t>(elem);
    constexpr ptrdiff_t kRows = 12, kColumns = 9;
    const size_t size = elem * kRows * kColumns + 4096;
    const std::vector<size_t> counts = {kColumns, kRows};
    // Row-major to column-major and back.
    check(vis::Strided(0, {kRows * e, e}, 0, {e, kColumns * e}, elem, counts), size);
    check(vis::Strided(0, {e, kColumns * e}, 0, {kRows * e, e}, elem, counts), size);
    // Mirrored in one dimension at one end, in the other at the other.
    const auto last_column = static_cast<size_t>((kColumns - 1) * e);
    const auto last_row = static_cast<size_t>((kRows - 1) * kColumns * e);
    check(vis::Strided(last_column, {-e, kColumns * e}, last_row, {e, -kColumns * e}, elem, counts),
          size);
    // Gaps at one end only.
    check(vis::Strided(0, {e, kColumns * e}, 0, {e, kColumns * e + 24}, elem, counts), size);
    check(vis::Strided(0, {e + 3, (e + 3) * kColumns + 5}, 0, {e, kColumns * e}, elem, counts),
          2 * size);
    // One value everywhere.
    check(vis::Strided(0, {e + 1, (e + 1) * kColumns}, 8, {0, 0}, elem, counts), 2 * size);
  }
  spec::barrier();
}

// More levels than any array of a program has.
SPEC_CASE(vis_edges, many_levels) {
  std::vector<size_t> counts(40, 1);
  std::vector<ptrdiff_t> to(40, 9999), from(40, -7777);
  ptrdiff_t stride = 5;
  for (const size_t level : {2, 3, 11, 17, 25, 26, 33, 39}) {
    counts[level] = 2;
    to[level] = stride;
    from[level] = 3 * stride / 2;
    stride *= 2;
  }
  check(vis::Strided(3, to, 9, from, 4, counts), 8192);
  spec::barrier();
}

// Long pieces beside short ones, so that some travel on their own and some together; more data
// than a pipeline holds; and lengths around those at which messages are cut.
SPEC_CASE(vis_edges, mixed_and_large) {
  // Several times what a pipeline of the default depth holds, and little enough for a sanitizer.
  const size_t size = std::min<size_t>(vis::arena_bytes(), 400000);
  std::vector<vis::Vector::Piece> to, from;
  size_t at = 0, back = size;
  for (unsigned i = 0; back > size / 4 && at < size / 2; ++i) {
    const size_t n = i % 3 == 0 ? 4096 + i % 7 : i % 3 == 1 ? 8 : 4095;
    if (at + n + 8 > size / 2 || back < n + 8) break;
    to.push_back({at, n});
    back -= n + 8;
    from.push_back({back, n});
    at += n + 8;
  }
  check(vis::Vector(to, from), size);
  const size_t half = size / 2;
  for (const size_t limit : {gex_AM_LUBRequestMedium(), size_t{512}}) {
    for (const size_t bytes : {limit - 25, limit - 24, limit - 1, limit, limit + 1, 2 * limit}) {
      if (bytes > half) continue;
      check(vis::Vector({{0, bytes / 2}, {half, bytes - bytes / 2}}, {{64, bytes}}), size);
    }
  }
  for (const size_t elem : {1, 8, 24, 100}) {
    const size_t count = size / (elem + 4);
    const auto stride = static_cast<ptrdiff_t>(elem + 4);
    check(vis::Strided(0, {stride}, 4, {stride}, elem, {std::min<size_t>(count - 1, 12000)}), size);
  }
  spec::barrier();
}

// Rows that become columns, of more than one square and of uneven sides: through the mapping these
// are copied square by square. Would catch a square too many, a level that was turned the wrong
// way, and pieces beside the last whole square.
SPEC_CASE(vis_edges, transposes) {
  const auto transpose = [](ptrdiff_t elem, size_t rows, size_t columns) {
    const auto bytes = static_cast<size_t>(elem) * rows * columns;
    const auto down = elem * static_cast<ptrdiff_t>(rows);
    const auto along = elem * static_cast<ptrdiff_t>(columns);
    const auto size = static_cast<size_t>(elem);
    check(vis::Strided(0, {elem, down}, 0, {along, elem}, size, {rows, columns}), bytes);
    check(vis::Strided(0, {down, elem}, 0, {elem, along}, size, {columns, rows}), bytes);
  };
  transpose(8, 70, 90);
  transpose(8, 33, 200);
  transpose(4, 129, 65);
  transpose(1, 257, 300);
  transpose(24, 40, 41);
  // Within a level that both ends share, and across one.
  check(vis::Strided(0, {8, 320, 12800}, 0, {320, 8, 12800}, 8, {40, 40, 3}), 38400);
  check(vis::Strided(0, {8, 320, 960}, 0, {960, 320, 8}, 8, {40, 3, 40}), 38400);
  // Backwards at one end.
  check(vis::Strided(0, {8, 320}, 12480, {-320, 8}, 8, {40, 40}), 12800);
  spec::barrier();
}
