// Registration of active-message handlers.
#include <atomic>
#include <vector>

#include "../harness.h"

using spec::handler_index_taken;
using spec::job;
using spec::Phase;

namespace {

std::atomic<int> last_handler{0};
template <int Which>
void note(gex_Token_t, gex_AM_Arg_t value) {
  last_handler.store(Which * 1000 + value, std::memory_order_release);
}

template <int Which>
gex_AM_Entry_t short_entry(gex_AM_Index_t index) {
  return {index,
          reinterpret_cast<gex_AM_Fn_t>(&note<Which>),
          GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
          1,
          nullptr,
          nullptr};
}

unsigned next_free(unsigned below = 256) {
  while (below > GEX_AM_INDEX_BASE && handler_index_taken(--below)) {
  }
  return below;
}

unsigned first_free(unsigned from = GEX_AM_INDEX_BASE) {
  while (from < 255 && handler_index_taken(from)) ++from;
  return from;
}

void expect_runs(gex_AM_Index_t index, int which, int value) {
  last_handler.store(0, std::memory_order_relaxed);
  gex_AM_RequestShort1(job().tm, job().rank, index, 0, value);
  GASNET_BLOCKUNTIL(last_handler.load(std::memory_order_acquire) != 0);
  CHECK_EQ(last_handler.load(std::memory_order_relaxed), which * 1000 + value);
}

}  // namespace

// "Don't care" entries get the highest free index, in table order, after the fixed ones of the
// same table - also when the fixed ones stand later in the table and want high indices.
SPEC_CASE(handlers, indices, 1, Phase::unattached) {
  const auto highest = static_cast<gex_AM_Index_t>(next_free());
  const auto lowest = static_cast<gex_AM_Index_t>(first_free());
  gex_AM_Entry_t table[] = {short_entry<1>(0), short_entry<2>(lowest), short_entry<3>(0),
                            short_entry<4>(highest)};
  const auto before = std::to_array(table);
  CHECK_EQ(spec::register_handlers(table, std::size(table)), GASNET_OK);
  CHECK_EQ(table[1].gex_index, lowest);
  CHECK_EQ(table[3].gex_index, highest);
  unsigned expected = highest;
  for (int i : {0, 2}) {
    do --expected;
    while (expected == lowest || (handler_index_taken(expected) && expected != table[0].gex_index &&
                                  expected != table[2].gex_index));
    CHECK_EQ(table[i].gex_index, expected);
  }
  // Nothing but the zero indices is modified.
  for (size_t i = 0; i < std::size(table); ++i) {
    CHECK(table[i].gex_fnptr == before[i].gex_fnptr);
    CHECK_EQ(table[i].gex_flags, before[i].gex_flags);
    CHECK_EQ(table[i].gex_nargs, before[i].gex_nargs);
    CHECK(table[i].gex_cdata == nullptr && table[i].gex_name == nullptr);
  }
  // The table is copied: its memory may be reused at once.
  const auto indices = std::to_array(
      {table[0].gex_index, table[1].gex_index, table[2].gex_index, table[3].gex_index});
  for (gex_AM_Entry_t& entry : table) entry = {};
  expect_runs(indices[0], 1, 7);
  expect_runs(indices[1], 2, 8);
  expect_runs(indices[2], 3, 9);
  expect_runs(indices[3], 4, 10);
}

// Several calls on one endpoint add up, and one table may be empty.
SPEC_CASE(handlers, repeated_calls) {
  CHECK_EQ(gex_EP_RegisterHandlers(job().ep, nullptr, 0), GASNET_OK);
  const unsigned expected = next_free();
  gex_AM_Entry_t one = short_entry<5>(0);
  CHECK_EQ(spec::register_handlers(&one, 1), GASNET_OK);
  CHECK_EQ(one.gex_index, expected);
  const unsigned then = next_free();
  gex_AM_Entry_t two = short_entry<6>(0);
  CHECK_EQ(spec::register_handlers(&two, 1), GASNET_OK);
  CHECK_EQ(two.gex_index, then);
  expect_runs(one.gex_index, 5, 1);
  expect_runs(two.gex_index, 6, 2);
}

// An index that is taken, twice in one table, or outside the client's range is refused, and a
// refused table registers nothing: the entry that stood there still runs.
SPEC_CASE(handlers, refused_tables) {
  const int verbose = gex_System_GetVerboseErrors();
  gex_System_SetVerboseErrors(0);
  const auto index = static_cast<gex_AM_Index_t>(first_free());
  gex_AM_Entry_t good = short_entry<7>(index);
  CHECK_EQ(spec::register_handlers(&good, 1), GASNET_OK);
  gex_AM_Entry_t again = short_entry<8>(index);
  CHECK(gex_EP_RegisterHandlers(job().ep, &again, 1) != GASNET_OK);
  expect_runs(index, 7, 3);
  const auto free = static_cast<gex_AM_Index_t>(first_free());
  gex_AM_Entry_t twice[] = {short_entry<7>(free), short_entry<8>(free)};
  CHECK(gex_EP_RegisterHandlers(job().ep, twice, 2) != GASNET_OK);
  gex_AM_Entry_t reserved = short_entry<7>(GEX_AM_INDEX_BASE - 1);
  CHECK(gex_EP_RegisterHandlers(job().ep, &reserved, 1) != GASNET_OK);
  gex_AM_Entry_t many_args = short_entry<7>(free);
  many_args.gex_nargs = gex_AM_MaxArgs() + 1;
  CHECK(gex_EP_RegisterHandlers(job().ep, &many_args, 1) != GASNET_OK);
  gex_AM_Entry_t no_direction = short_entry<7>(free);
  no_direction.gex_flags = GEX_FLAG_AM_SHORT;
  CHECK(gex_EP_RegisterHandlers(job().ep, &no_direction, 1) != GASNET_OK);
  gex_AM_Entry_t no_category = short_entry<7>(free);
  no_category.gex_flags = GEX_FLAG_AM_REQUEST;
  CHECK(gex_EP_RegisterHandlers(job().ep, &no_category, 1) != GASNET_OK);
  gex_AM_Entry_t no_function = short_entry<7>(free);
  no_function.gex_fnptr = nullptr;
  CHECK(gex_EP_RegisterHandlers(job().ep, &no_function, 1) != GASNET_OK);
  // The index of all those refused entries is still free.
  gex_AM_Entry_t at_last = short_entry<9>(free);
  CHECK_EQ(spec::register_handlers(&at_last, 1), GASNET_OK);
  expect_runs(free, 9, 4);
  gex_System_SetVerboseErrors(verbose != 0);
}

SPEC_CASE(handlers, max_args) {
  // At least 2 * max(sizeof(int), sizeof(void*)).
  CHECK(gex_AM_MaxArgs() >= 16);
}
