// One transfer of known shape, so that the transport's counters show how `vis.pack_below` was
// obeyed; CMakeLists.txt holds the counts.
#include "vis_model.h"

using spec::job;

SPEC_CASE(vis_threshold, rows_of_64, 2) {
  if (job().rank == 0) {
    std::vector<char> source(512 * 80), got(512 * 80);
    spec::fill(source.data(), source.size(), 1);
    const ptrdiff_t near = 80, far = 72;
    const size_t rows = 512;
    std::byte* const there = vis::arena(job().peer());
    CHECK_EQ(gex_VIS_StridedPutBlocking(job().tm, job().peer(), there, &far, source.data(), &near,
                                        64, &rows, 1, 0),
             0);
    CHECK_EQ(gex_VIS_StridedGetBlocking(job().tm, got.data(), &near, job().peer(), there, &far, 64,
                                        &rows, 1, 0),
             0);
    for (size_t row = 0; row < rows; ++row)
      CHECK(std::memcmp(got.data() + 80 * row, source.data() + 80 * row, 64) == 0);
  }
  spec::barrier();
}
