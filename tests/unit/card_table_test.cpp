// Tables of cards as another process gave them, as text or as a file.
#include "bootstrap/card_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace causeway {
namespace {

const std::vector<std::string> kCards = {"first", "", std::string("a\0b", 3), "last"};

void expect_cards(const CardTable& table) {
  for (size_t r = 0; r < kCards.size(); ++r) EXPECT_EQ(table[r], kCards[r]);
}

class CardTableTest : public testing::Test {
 protected:
  CardTableTest() {
    std::string name = testing::TempDir() + "cards.XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) directory_ = name;
  }
  ~CardTableTest() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

// Would catch: cards that are cut, shifted or mixed up on their way, empty ones among them.
TEST_F(CardTableTest, GivesBackItsCards) {
  const CardTable table(kCards);
  expect_cards(table);
  expect_cards(CardTable(std::string(table.text()), kCards.size()));
  const std::string file = directory_ + "/cards";
  ASSERT_TRUE(table.keep(file));
  std::optional<CardTable> mapped = CardTable::map(file, kCards.size());
  ASSERT_TRUE(mapped);
  std::filesystem::remove(file);  // as at the end of a session
  const CardTable copy = *mapped;
  mapped.reset();
  expect_cards(copy);
}

// Would catch: a table that counts as this process's memory though it is a file of all, or not.
TEST_F(CardTableTest, TellsWhatItTakes) {
  const CardTable table(kCards);
  EXPECT_EQ(table.own_bytes(), table.text().size());
  ASSERT_TRUE(table.keep(directory_ + "/cards"));
  EXPECT_EQ(CardTable::map(directory_ + "/cards", kCards.size())->own_bytes(), 0u);
}

// Would catch: a file that is waited for, followed to another place, or half written and left.
TEST_F(CardTableTest, NeedsARegularFile) {
  const CardTable table(kCards);
  const std::string pipe = directory_ + "/pipe", link = directory_ + "/link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(directory_ + "/elsewhere", link);
  for (const std::string& name : {pipe, link, directory_, directory_ + "/none/cards"}) {
    EXPECT_FALSE(table.keep(name)) << name;
    EXPECT_FALSE(CardTable::map(name, kCards.size())) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/elsewhere"));
  EXPECT_FALSE(CardTable::map("", kCards.size()));
  std::ofstream(directory_ + "/empty");
  EXPECT_FALSE(CardTable::map(directory_ + "/empty", kCards.size()));
}

// Would catch: a damaged table that is read beyond its end.
TEST_F(CardTableTest, RefusesWhatIsDamaged) {
  const std::string text(CardTable(kCards).text());
  const size_t count = kCards.size();
  const auto refused = [](const std::string& damaged, size_t cards) {
    EXPECT_THROW(CardTable(damaged, cards), Error) << damaged.size() << ' ' << cards;
  };
  refused(text, count - 1);
  refused(text, count + 1);
  refused(text, SIZE_MAX);
  refused(text, SIZE_MAX / 8);
  refused(text + "x", count);
  for (size_t length = 0; length < text.size(); ++length) refused(text.substr(0, length), count);
  for (size_t at = 0; at <= count; ++at) {
    for (const uint64_t offset : {uint64_t{0}, text.size() + 1, UINT64_MAX}) {
      std::string damaged = text;
      std::memcpy(damaged.data() + at * sizeof offset, &offset, sizeof offset);
      refused(damaged, count);
    }
  }
  const std::string file = directory_ + "/cards";
  std::ofstream(file) << text.substr(1);
  EXPECT_THROW(CardTable::map(file, count), Error);
}

}  // namespace
}  // namespace causeway
