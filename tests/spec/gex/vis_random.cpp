// Random vector, indexed and strided transfers in every mode, held against a naive model. Would
// catch bytes that are lost, doubled or written elsewhere by folding, packing, cutting or
// scattering.
#include "vis_model.h"

using spec::job;

namespace {

std::vector<gex_Rank_t> targets() {
  std::vector<gex_Rank_t> all = {job().rank};
  if (job().size > 1) all.push_back(job().peer());
  if (job().size > 2) all.push_back(job().behind());
  return all;
}

// `make` makes the n-th transfer from a generator and an arena's size.
template <typename Make>
void compare(unsigned count, Make make) {
  for (const gex_Rank_t rank : targets()) {
    for (unsigned i = 0; i < spec::scaled(count, 4); ++i) {
      const uint64_t seed = vis::base_seed() + 1000003u * i + 17u * rank + job().rank;
      vis::Random random(seed);
      const size_t size = std::min<size_t>(vis::arena_bytes(), random.chance(80) ? 16384 : 400000);
      auto transfer = make(random, size);
      if (!vis::agrees(transfer, {job().tm, rank, nullptr, vis::arena(rank)}, seed, size)) return;
    }
  }
}

}  // namespace

SPEC_CASE(vis_random, vector) {
  compare(60, [](vis::Random& r, size_t size) { return vis::Vector::random(r, size, size / 2); });
  spec::barrier();
}

SPEC_CASE(vis_random, indexed) {
  compare(60, [](vis::Random& r, size_t size) { return vis::Indexed::random(r, size, size / 2); });
  spec::barrier();
}

SPEC_CASE(vis_random, strided) {
  compare(120, [](vis::Random& r, size_t size) { return vis::Strided::random(r, size, size / 2); });
  spec::barrier();
}

// Offsets into the bound segments at both ends, and a TM-pair in place of the team.
SPEC_CASE(vis_random, offsets_and_pairs) {
  const size_t size = std::min<size_t>(vis::arena_bytes() / 2, 8192);
  const gex_TM_t pair = gex_TM_Pair(job().ep, 0);
  for (const gex_Rank_t rank : targets()) {
    if (rank == job().rank) continue;  // its arena is the local one
    std::byte* const near = vis::arena(job().rank);
    const auto offset_of = [](gex_Rank_t owner, std::byte* at) {
      return static_cast<std::byte*>(spec::as_offset(owner, at));
    };
    for (unsigned i = 0; i < spec::scaled(30, 4); ++i) {
      const uint64_t seed = vis::base_seed() + 77 + i;
      vis::Random random(seed);
      vis::Ends ends{i % 2 == 0 ? job().tm : pair, rank, offset_of(job().rank, near),
                     vis::arena(rank)};
      if (i % 3 != 0) {
        ends.flags |= GEX_FLAG_PEER_SEG_OFFSET;
        ends.remote = offset_of(rank, vis::arena(rank));
      }
      if (i % 3 != 1) ends.flags |= GEX_FLAG_SELF_SEG_OFFSET;
      bool good = true;
      if (i % 5 < 2) {
        auto t = vis::Strided::random(random, size, size / 2);
        good = vis::agrees(t, ends, seed, size, near);
      } else if (i % 5 < 4) {
        auto t = vis::Vector::random(random, size, size / 2);
        good = vis::agrees(t, ends, seed, size, near);
      } else {
        auto t = vis::Indexed::random(random, size, size / 2);
        good = vis::agrees(t, ends, seed, size, near);
      }
      if (!good) break;
    }
  }
  spec::barrier();
}
