// Texts and tables of the command.
#include "text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "svg_matrix.h"

namespace causeway::command {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string printed(const Rows& rows) {
  ::setenv("COLUMNS", "100", 1);
  testing::internal::CaptureStdout();
  print_columns(rows, "");
  return testing::internal::GetCapturedStdout();
}

// Would catch: a name that is broken over two lines, so that nobody can copy it, though the words
// beside it can be folded; a line that is longer than the page.
TEST(Columns, NamesAreWholeWhereThePageAllowsIt) {
  const std::string id = "causeway-64321-1234567-441257ff";
  const std::string words =
      "1 stopped, 1 waits 12.3 s in gex_Coll_BarrierNB() for rank 1 of the team with 4 members";
  const std::string program = "a_program_20_letters";
  const std::string text = printed({{"job", "launcher", "program", "ranks", "age", "state"},
                                    {id, "1234567", program, "16/16", "12 min", words}});
  EXPECT_NE(text.find(id), std::string::npos) << text;
  EXPECT_NE(text.find(program), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// Would catch: a table that is wider than the page, or that never ends, for one long word.
TEST(Columns, LongWordIsBrokenWhereNothingElseHelps) {
  const std::string text = printed({{"a", "b"}, {std::string(150, 'x'), std::string(40, 'y')}});
  EXPECT_NE(text.find(std::string(40, 'y')), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// Would catch: a name of a host in another encoding, which makes a document that no reader opens; a
// name in UTF-8 that is taken apart.
TEST(Documents, AreUtf8WhateverNamesAre) {
  const std::string name = "h\xc3\xb6st-\xe2\x82\xac-\xf0\x9f\x98\x80";
  EXPECT_EQ(json_text(name), '"' + name + '"');
  EXPECT_EQ(xml_text(name), name);
  // Alone, cut, too long, a surrogate, too large.
  for (const std::string bad :
       {"\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    const std::string marks(bad.size(), '?');
    EXPECT_EQ(json_text("a" + bad + "b"), "\"a" + marks + "b\"");
    EXPECT_EQ(xml_text("a" + bad + "b"), "a" + marks + "b");
  }
}

}  // namespace
}  // namespace causeway::command
