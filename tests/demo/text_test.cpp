// How wordfreq divides a text among ranks.
#include "text.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace wordfreq {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::string word; next_word(text, word);) words.push_back(word);
  return words;
}

// Would catch: a word cut at a border, counted twice or by nobody, for any number of ranks, also
// when there are more ranks than bytes and when a word spans several shares.
TEST(Slice, EveryWordBelongsToOneRank) {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    std::string text;
    const unsigned separators = 1 + random() % 8;  // of 10 characters: from long words to short
    for (size_t n = random() % 60; n > 0; --n)
      text += random() % 10 < separators ? "\n \xc3-0"[random() % 5] : "abYZ"[random() % 4];
    for (const uint32_t ranks : {1u, 2u, 3u, 7u, 64u}) {
      std::vector<std::string> together;
      for (uint32_t rank = 0; rank < ranks; ++rank)
        for (std::string& word : words_of(slice(text, rank, ranks)))
          together.push_back(std::move(word));
      ASSERT_EQ(together, words_of(text)) << ranks << " ranks: " << text;
    }
  }
}

// Would catch: letters beyond ASCII, digits, apostrophes or zero bytes taken for letters.
TEST(NextWord, RunsOfAsciiLettersInLowerCase) {
  const std::string text(
      "Don't \xc3\xa9"
      "Tat\0x9Z_",
      15);
  EXPECT_EQ(words_of(text), (std::vector<std::string>{"don", "t", "tat", "x", "z"}));
  EXPECT_TRUE(words_of("").empty());
}

}  // namespace
}  // namespace wordfreq
