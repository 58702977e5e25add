// HandlerTable: which index an entry gets, and what is refused. What a client sees of it is in
// tests/spec; here are the cases that would use up an endpoint's table.
#define GASNET_PAR 1
#include "object/handler_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using causeway::HandlerTable;

void handler(gex_Token_t) {}

gex_AM_Entry_t entry(gex_AM_Index_t index) {
  return {index,
          reinterpret_cast<gex_AM_Fn_t>(&handler),
          GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
          0,
          nullptr,
          "test"};
}
std::vector<gex_AM_Entry_t> dont_care(size_t count) {
  return std::vector<gex_AM_Entry_t>(count, entry(0));
}

// Catches an off-by-one at either end of the client's range, and an order other than downwards.
TEST(HandlerTable, FillsFrom255Down) {
  HandlerTable table;
  auto entries = dont_care(256 - GEX_AM_INDEX_BASE);
  ASSERT_EQ(table.register_handlers(entries.data(), entries.size()), GASNET_OK);
  for (size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(entries[i].gex_index, 255 - i);
}

// Catches indices that wrap into the library's own range, or a table that is registered in part.
TEST(HandlerTable, RefusesOneTooMany) {
  HandlerTable table;
  auto entries = dont_care(257 - GEX_AM_INDEX_BASE);
  EXPECT_EQ(table.register_handlers(entries.data(), entries.size()), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(entries[0].gex_index, 0);
  for (unsigned i = 0; i < 256; ++i)
    EXPECT_EQ(table.entry(static_cast<uint8_t>(i)).gex_fnptr, nullptr);
  auto fitting = dont_care(256 - GEX_AM_INDEX_BASE);
  EXPECT_EQ(table.register_handlers(fitting.data(), fitting.size()), GASNET_OK);
  auto one = entry(0);
  EXPECT_EQ(table.register_handlers(&one, 1), GASNET_ERR_BAD_ARG);
}

TEST(HandlerTable, RefusesManyMoreThanThereAreIndices) {
  HandlerTable table;
  auto entries = dont_care(1000);
  EXPECT_EQ(table.register_handlers(entries.data(), entries.size()), GASNET_ERR_BAD_ARG);
}

// Fixed entries come first, wherever they stand, and don't-care ones fill the gaps, over several
// calls.
TEST(HandlerTable, FillsGapsOverSeveralCalls) {
  HandlerTable table;
  gex_AM_Entry_t first[] = {entry(0), entry(254), entry(0), entry(128)};
  ASSERT_EQ(table.register_handlers(first, 4), GASNET_OK);
  EXPECT_EQ(first[0].gex_index, 255);
  EXPECT_EQ(first[2].gex_index, 253);
  gex_AM_Entry_t second[] = {entry(0), entry(252), entry(0)};
  ASSERT_EQ(table.register_handlers(second, 3), GASNET_OK);
  EXPECT_EQ(second[0].gex_index, 251);
  EXPECT_EQ(second[2].gex_index, 250);
}

TEST(HandlerTable, EmptyAndMissingTables) {
  HandlerTable table;
  EXPECT_EQ(table.register_handlers(nullptr, 0), GASNET_OK);
  EXPECT_EQ(table.register_handlers(nullptr, 1), GASNET_ERR_BAD_ARG);
}

// Every combination of the two groups of flags: one of each group is needed.
TEST(HandlerTable, Flags) {
  const gex_Flags_t categories[] = {0,
                                    GEX_FLAG_AM_SHORT,
                                    GEX_FLAG_AM_MEDIUM,
                                    GEX_FLAG_AM_LONG,
                                    GEX_FLAG_AM_MEDLONG,
                                    GEX_FLAG_AM_SHORT | GEX_FLAG_AM_LONG};
  const gex_Flags_t directions[] = {0, GEX_FLAG_AM_REQUEST, GEX_FLAG_AM_REPLY, GEX_FLAG_AM_REQREP};
  for (size_t c = 0; c < std::size(categories); ++c) {
    for (size_t d = 0; d < std::size(directions); ++d) {
      HandlerTable table;
      auto one = entry(200);
      one.gex_flags = categories[c] | directions[d];
      const bool good = c != 0 && c != 5 && d != 0;
      EXPECT_EQ(table.register_handlers(&one, 1) == GASNET_OK, good) << c << ' ' << d;
    }
  }
}

TEST(HandlerTable, ArgumentsAndIndices) {
  HandlerTable table;
  auto most = entry(201);
  most.gex_nargs = 16;
  EXPECT_EQ(table.register_handlers(&most, 1), GASNET_OK);
  auto too_many = entry(202);
  too_many.gex_nargs = 17;
  EXPECT_EQ(table.register_handlers(&too_many, 1), GASNET_ERR_BAD_ARG);
  for (gex_AM_Index_t index : {1, 64, 127}) {
    auto reserved = entry(index);
    EXPECT_EQ(table.register_handlers(&reserved, 1), GASNET_ERR_BAD_ARG);
  }
}

}  // namespace
