// Objects that threads make at their first use.
#include "base/lazy_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace causeway {
namespace {

struct Counted {
  static inline std::atomic<int> alive{0};
  explicit Counted(size_t its) : number(its) { ++alive; }
  ~Counted() { --alive; }
  const size_t number;
};

Counted& make(LazyTable<Counted>& table, size_t i) {
  return table.at(i, [i] { return std::make_unique<Counted>(i); });
}

// Would catch: objects made before their use, under another number, twice, or never destroyed.
TEST(LazyTable, MakesAtTheFirstUse) {
  {
    LazyTable<Counted> table(5);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(table.find(i), nullptr);
    Counted& last = make(table, 4);
    EXPECT_EQ(last.number, 4u);
    EXPECT_EQ(&make(table, 4), &last);
    EXPECT_EQ(table.find(4), &last);
    EXPECT_EQ(table.find(3), nullptr);
    std::vector<size_t> seen;
    make(table, 1);
    table.for_each([&seen](const Counted& object) { seen.push_back(object.number); });
    EXPECT_EQ(seen, (std::vector<size_t>{1, 4}));
    EXPECT_EQ(Counted::alive, 2);
  }
  EXPECT_EQ(Counted::alive, 0);
}

// Would catch: two threads that get different objects, and the second object left over.
TEST(LazyTable, GivesAllThreadsOneObject) {
  constexpr size_t kThreads = 4, kObjects = 2000;
  {
    LazyTable<Counted> table(kObjects);
    std::vector<std::vector<Counted*>> got(kThreads, std::vector<Counted*>(kObjects));
    std::barrier together(kThreads);
    std::vector<std::thread> threads;
    for (auto& mine : got)
      threads.emplace_back([&] {
        together.arrive_and_wait();
        for (size_t i = 0; i < kObjects; ++i) mine[i] = &make(table, i);
      });
    for (std::thread& thread : threads) thread.join();
    for (const auto& one : got) EXPECT_EQ(one, got[0]);
    EXPECT_EQ(Counted::alive, static_cast<int>(kObjects));
  }
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
}  // namespace causeway
