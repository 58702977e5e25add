// gex_TM_Split, gex_TM_Dup and gex_TM_Destroy: membership, ranks, scratch, and that teams are
// independent of each other in everything that goes over them.
#include <atomic>
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;
using spec::Phase;

namespace {

gex_TM_t split(gex_TM_t parent, int color, int key) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, parent, color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

void barrier_on(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

std::atomic<unsigned> arrived{0}, wrong{0};
void on_short(gex_Token_t token, gex_AM_Arg_t from) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  if (info.gex_srcrank != static_cast<gex_Rank_t>(from)) wrong.fetch_add(1);
  arrived.fetch_add(1, std::memory_order_release);
}
const spec::Handler short_handler(&on_short, GEX_FLAG_AM_REQUEST, "team_split.short");

// Messages, puts and gets by the team's ranks reach the members that translation names.
void exercise(gex_TM_t tm) {
  const gex_Rank_t me = gex_TM_QueryRank(tm), n = gex_TM_QuerySize(tm);
  arrived = 0;
  barrier_on(tm);
  for (gex_Rank_t r = 0; r < n; ++r)
    gex_AM_RequestShort1(tm, r, short_handler, 0, static_cast<gex_AM_Arg_t>(job().rank));
  GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == n);
  CHECK_EQ(wrong.load(), 0u);
  for (gex_Rank_t r = 0; r < n; ++r) {
    const gex_Rank_t there = gex_TM_TranslateRankToJobrank(tm, r);
    std::byte* to = spec::segment_of(there, spec::kScratchOffset + 8 * me);
    gex_RMA_PutBlockingVal(tm, r, to, 7000 + me * 100 + r, 8, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(tm, r, to, 8, 0), 7000 + me * 100 + r);
  }
  barrier_on(tm);
  for (gex_Rank_t r = 0; r < n; ++r) {
    uint64_t got = 0;
    std::memcpy(&got, spec::my_segment(spec::kScratchOffset + 8 * r), 8);
    CHECK_EQ(got, 7000 + r * 100 + me);
  }
  barrier_on(tm);
}

}  // namespace

// Even and odd ranks, in reverse order.
SPEC_CASE(team_split, colors_and_keys) {
  const int color = static_cast<int>(job().rank % 2);
  const gex_TM_t tm = split(job().tm, color, -static_cast<int>(job().rank));
  CHECK(tm != GEX_TM_INVALID && tm != job().tm);
  const gex_Rank_t n = (job().size + 1 - static_cast<gex_Rank_t>(color)) / 2;
  CHECK_EQ(gex_TM_QuerySize(tm), n);
  CHECK_EQ(gex_TM_QueryRank(tm), n - 1 - job().rank / 2);
  CHECK_EQ(gex_TM_QueryClient(tm), job().client);
  CHECK_EQ(gex_TM_QueryEP(tm), job().ep);
  CHECK_EQ(gex_TM_QueryFlags(tm), GEX_FLAG_TM_NO_SCRATCH);
  CHECK(gex_TM_QueryCData(tm) == nullptr);
  for (gex_Rank_t r = 0; r < n; ++r) {
    const gex_Rank_t expected = (n - 1 - r) * 2 + static_cast<gex_Rank_t>(color);
    CHECK_EQ(gex_TM_TranslateRankToJobrank(tm, r), expected);
    CHECK_EQ(gex_TM_TranslateJobrankToRank(tm, expected), r);
    const gex_EP_Location_t location = gex_TM_TranslateRankToEP(tm, r, 0);
    CHECK_EQ(location.gex_rank, expected);
    CHECK_EQ(location.gex_ep_index, 0);
  }
  for (gex_Rank_t other = 1 - static_cast<gex_Rank_t>(color); other < job().size; other += 2)
    CHECK_EQ(gex_TM_TranslateJobrankToRank(tm, other), GEX_RANK_INVALID);
  exercise(tm);
  CHECK_EQ(gex_TM_Destroy(tm, nullptr, 0), 0);
  spec::barrier();
}

// Equal keys: the parent's order decides.
SPEC_CASE(team_split, equal_keys_keep_the_order) {
  const gex_TM_t reversed = split(job().tm, 3, -static_cast<int>(job().rank));
  const gex_TM_t tm = split(reversed, 0, 5);
  CHECK_EQ(gex_TM_QueryRank(tm), gex_TM_QueryRank(reversed));
  exercise(tm);
  gex_TM_Destroy(tm, nullptr, 0);
  gex_TM_Destroy(reversed, nullptr, 0);
  spec::barrier();
}

// NULL for the result: the caller takes part in the call and in no team.
SPEC_CASE(team_split, some_take_no_part, 2) {
  const bool in = job().rank != 0;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(in ? &tm : nullptr, job().tm, 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK((tm != GEX_TM_INVALID) == in);
  if (in) {
    CHECK_EQ(gex_TM_QuerySize(tm), job().size - 1);
    CHECK_EQ(gex_TM_QueryRank(tm), job().rank - 1);
    exercise(tm);
    gex_TM_Destroy(tm, nullptr, 0);
  }
  spec::barrier();
  // And nobody at all.
  gex_TM_Split(nullptr, job().tm, 0, 0, nullptr, 0, 0);
}

SPEC_CASE(team_split, alone) {
  const gex_TM_t tm = split(job().tm, static_cast<int>(job().rank), 0);
  CHECK_EQ(gex_TM_QuerySize(tm), 1u);
  exercise(tm);
  gex_TM_Destroy(tm, nullptr, 0);
}

SPEC_CASE(team_split, scratch_sizes) {
  gex_TM_t tm = GEX_TM_INVALID;
  const size_t size =
      gex_TM_Split(&tm, job().tm, 0, 0, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  CHECK(size > 0);
  CHECK(tm == GEX_TM_INVALID);
  const size_t least = gex_TM_Split(&tm, job().tm, 0, 0, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
  CHECK(least > 0 && least <= size);
  CHECK(tm == GEX_TM_INVALID);
  CHECK_EQ(gex_TM_Split(nullptr, job().tm, 0, 0, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED),
           0u);
  CHECK(gex_TM_Dup(&tm, job().tm, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED) > 0);
  CHECK(tm == GEX_TM_INVALID);
}

// What was granted is returned, as an address or as an offset, and only where something was.
SPEC_CASE(team_split, scratch_is_returned) {
  gex_TM_t none = GEX_TM_INVALID;
  const size_t size =
      gex_TM_Split(&none, job().tm, 1, 0, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  std::byte* mine = spec::my_segment(65536 + 64 * job().rank);
  for (const gex_Flags_t how : {gex_Flags_t{0}, GEX_FLAG_SCRATCH_SEG_OFFSET}) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_TM_Split(&tm, job().tm, 1, 0, mine, size, 0);
    barrier_on(tm);
    gex_Memvec_t got = {nullptr, 0};
    CHECK(gex_TM_Destroy(tm, &got, how) != 0);
    CHECK_EQ(got.gex_len, size);
    auto* expected = how == 0 ? mine : reinterpret_cast<std::byte*>(mine - spec::my_segment(0));
    CHECK(static_cast<std::byte*>(got.gex_addr) == expected);
  }
  gex_Memvec_t got = {&got, 99};
  CHECK_EQ(gex_TM_Destroy(split(job().tm, 0, 0), &got, 0), 0);
  CHECK(got.gex_addr == &got && got.gex_len == 99);
  spec::barrier();
}

SPEC_CASE(team_split, duplicates) {
  gex_TM_t reversed = split(job().tm, 0, -static_cast<int>(job().rank));
  gex_TM_t dup = GEX_TM_INVALID;
  gex_TM_Dup(&dup, reversed, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK(dup != reversed);
  CHECK_EQ(gex_TM_QueryRank(dup), gex_TM_QueryRank(reversed));
  CHECK_EQ(gex_TM_QuerySize(dup), gex_TM_QuerySize(reversed));
  exercise(dup);
  gex_TM_t offset = GEX_TM_INVALID;
  gex_TM_Dup(&offset, dup, reinterpret_cast<void*>(size_t{4096}), 8192,
             GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  gex_TM_Destroy(dup, nullptr, 0);
  exercise(offset);
  gex_Memvec_t got = {nullptr, 0};
  CHECK(gex_TM_Destroy(offset, &got, 0) != 0);
  CHECK(got.gex_addr == spec::my_segment(4096));
  gex_TM_t local = GEX_TM_INVALID;
  gex_TM_Dup(&local, reversed, spec::my_segment(4096 + 64 * job().rank), 4096,
             GEX_FLAG_TM_LOCAL_SCRATCH);
  exercise(local);
  CHECK(gex_TM_Destroy(local, &got, 0) != 0);
  CHECK(got.gex_addr == spec::my_segment(4096 + 64 * job().rank));
  gex_TM_Destroy(reversed, nullptr, 0);
  spec::barrier();
}

// Barriers of several teams at once, begun and awaited in different orders: would catch teams
// that share a counter or an inbox.
SPEC_CASE(team_split, barriers_do_not_mix) {
  gex_TM_t dup = GEX_TM_INVALID;
  gex_TM_Dup(&dup, job().tm, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  const gex_TM_t reversed = split(job().tm, 0, -static_cast<int>(job().rank));
  const gex_TM_t part = split(job().tm, static_cast<int>(job().rank % 2), 0);
  const gex_TM_t teams[] = {job().tm, dup, reversed, part};
  for (unsigned round = 0; round < spec::scaled(20, 5); ++round) {
    std::vector<gex_Event_t> events;
    for (unsigned i = 0; i < 4; ++i)
      events.push_back(gex_Coll_BarrierNB(teams[(i + job().rank + round) % 4], 0));
    gex_Event_WaitAll(events.data(), events.size(), 0);
  }
  // A barrier of one team is none of another: the part's is left while the whole one is open.
  const gex_Event_t whole = gex_Coll_BarrierNB(dup, 0);
  barrier_on(part);
  gex_Event_Wait(whole);
  for (const gex_TM_t tm : {dup, reversed, part}) gex_TM_Destroy(tm, nullptr, 0);
  spec::barrier();
}

// Many teams one after the other, and rows and columns that overlap, destroyed after one barrier
// of their parent.
SPEC_CASE(team_split, rows_and_columns) {
  gex_Rank_t width = 1;
  while ((width + 1) * (width + 1) <= job().size) ++width;
  for (unsigned round = 0; round < spec::scaled(5, 2); ++round) {
    const gex_TM_t row = split(job().tm, static_cast<int>(job().rank / width), 0);
    const gex_TM_t column = split(job().tm, static_cast<int>(job().rank % width), 0);
    CHECK_EQ(gex_TM_QueryRank(row), job().rank % width);
    CHECK_EQ(gex_TM_QueryRank(column), job().rank / width);
    barrier_on(row);
    barrier_on(column);
    spec::barrier();
    gex_TM_Destroy(column, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
    gex_TM_Destroy(row, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
  }
  spec::barrier();
}

// A team made before there is a segment reaches it afterwards.
static gex_TM_t early = GEX_TM_INVALID;
SPEC_CASE(team_split, before_attachment, 1, Phase::unattached) {
  early = split(job().tm, 0, -static_cast<int>(job().rank));
  barrier_on(early);
}
SPEC_CASE(team_split, made_before_attachment) {
  exercise(early);
  CHECK_EQ(gex_Segment_QueryBound(early, 0, nullptr, nullptr, nullptr), 0);
}
