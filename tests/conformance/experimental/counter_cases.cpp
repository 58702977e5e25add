// Counters (causeway/experimental.h) of a conduit that offers them, with the harness of the suite.
// They are outside of the interface's freeze, so these cases are not installed.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "../harness/cases.h"
#include "lookup.h"
#include "peer_memory.h"

namespace causeway::conformance {
namespace {

constexpr uint64_t kWords = 64;           // counters lie in the first so many words of the memory
constexpr uint64_t kData = 8 * kWords;    // and data behind them
constexpr uint64_t kSlot = 8 << 10;       // of each piece of data
constexpr uint64_t kUntouched = 1000000;  // what a word has that nothing may raise

const cwyx_counters& table(const Settings& settings) {
  return find_table<cwyx_counters>(settings, "counters");
}

class Counter {
 public:
  Counter(const cwyx_counters& calls, Side& side, uint64_t word) : calls_(calls) {
    const auto at = reinterpret_cast<uint64_t>(side.memory->data()) + 8 * word;
    require_ok(calls.open(side.ep->get(), side.memory->get(), at, &counter_, nullptr), "open");
  }
  ~Counter() { close(); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  void close() {
    if (counter_ != nullptr) calls_.close(std::exchange(counter_, nullptr));
  }
  cwyx_counter* get() const { return counter_; }
  uint64_t value() const { return calls_.read(counter_); }

 private:
  const cwyx_counters& calls_;
  cwyx_counter* counter_ = nullptr;
};

// ---- the peer's side -------------------------------------------------------------------------

// Puts that raised their own word, and whether their data was there when the word said so.
struct Expected {
  uint64_t count;
  uint64_t add(uint64_t i) const { return 1 + i; }
  uint64_t length(uint64_t i) const { return i * 397 % kSlot; }
};
struct Found {
  uint64_t raised, early, wrong;  // wrong: values of words
};

Found watch_words(Side& side, const Expected& e) {
  const cwyx_counters& calls = table(side.settings);
  std::vector<std::unique_ptr<Counter>> words;
  for (uint64_t i = 0; i < e.count; ++i) words.push_back(std::make_unique<Counter>(calls, side, i));
  std::vector<bool> seen(e.count);
  Found found{};
  side.ep->until(
      [&] {
        for (uint64_t i = 0; i < e.count; ++i) {
          const uint64_t value = words[i]->value();
          if (seen[i] || value == 0) continue;
          seen[i] = true;
          ++found.raised;
          found.wrong += value != e.add(i) ? 1 : 0;
          const uint8_t* const data = side.memory->data() + kData + i * kSlot;
          found.early += first_difference(data, e.length(i), i) != e.length(i) ? 1 : 0;
        }
        return found.raised == e.count;
      },
      "every counter to be raised", 60);
  return found;
}

Nothing set_word(Side& side, const Range& word) {
  std::memcpy(side.memory->data() + word.offset, &kUntouched, sizeof kUntouched);
  return {};
}
uint64_t word_at(Side& side, const Range& word) {
  uint64_t value;
  std::memcpy(&value, side.memory->data() + word.offset, sizeof value);
  return value;
}

// Raises the first word of the other side's memory by one with an empty put.
Nothing raise_theirs(Side& side, const Nothing&) {
  const cwyx_counters& calls = table(side.settings);
  Op& op = side.conn->ops_pool().put("put_add");
  const uint64_t base = side.remote->base();
  side.ep->retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return calls.put_add(side.conn->get(), nullptr, nullptr, base, side.remote->get(), 0,
                               base, side.remote->get(), 1, raw);
        });
      },
      "put_add");
  side.ep->finish(op, "put_add");
  return {};
}

// ---- cases -----------------------------------------------------------------------------------

Op& put_add(Session& s, const void* source, uint64_t offset, uint64_t length, uint64_t word,
            uint64_t add) {
  const cwyx_counters& calls = table(s.side().settings);
  Op& op = s.pool().put("put_add");
  const cwy_status status = s.ep().retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return calls.put_add(s.raw(), source, nullptr, s.remote().base() + offset,
                               s.remote().get(), length, s.remote().base() + 8 * word,
                               s.remote().get(), add, raw);
        });
      },
      "put_add");
  if (status < 0) throw Error(status, "put_add answered {}", status);
  return op;
}

Op& put_when(Session& s, const void* source, uint64_t offset, uint64_t length, const Counter& when,
             uint64_t threshold) {
  const cwyx_counters& calls = table(s.side().settings);
  Op& op = s.pool().put("put_when");
  const cwy_status status = s.ep().retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return calls.put_when(s.raw(), source, nullptr, s.remote().base() + offset,
                                s.remote().get(), length, when.get(), threshold, raw);
        });
      },
      "put_when");
  if (status < 0) throw Error(status, "put_when answered {}", status);
  return op;
}

// Catches a counter that is raised before its data is there, twice, never, or by something else.
void raised_behind_the_data() {
  Session s;
  s.call(clear, Nothing{});
  const Expected e{kWords};
  s.start(watch_words, e);
  std::vector<std::vector<uint8_t>> sources(e.count);
  std::vector<Op*> ops;
  for (uint64_t i = 0; i < e.count; ++i) {
    sources[i].resize(e.length(i));
    fill_pattern(sources[i].data(), e.length(i), i);
    ops.push_back(&put_add(s, sources[i].data(), kData + i * kSlot, e.length(i), i, e.add(i)));
  }
  const Found found = s.finish<Found>(90);
  EXPECT_EQ(found.raised, e.count);
  EXPECT_EQ(found.early, 0u) << "counters said so before the data had arrived";
  EXPECT_EQ(found.wrong, 0u) << "counters were raised by something else";
  for (Op* op : ops) s.ep().finish(*op, "put_add");
}

// Catches additions that are lost, or made twice, where many raise one word.
void adds_up() {
  Session s;
  s.call(clear, Nothing{});
  constexpr uint64_t times = 500;
  std::vector<Op*> ops;
  for (uint64_t i = 0; i < times; ++i) ops.push_back(&put_add(s, nullptr, kData, 0, 3, 7));
  for (Op* op : ops) s.ep().finish(*op, "put_add");
  EXPECT_EQ(s.call(word_at, Range{8 * 3, 8}), 7 * times);
  EXPECT_EQ(s.call(word_at, Range{8 * 2, 8}) + s.call(word_at, Range{8 * 4, 8}), 0u);
}

// Catches data that is written although the counter is refused, or a counter that is raised
// although the data is; and one that is not aligned.
void refused_as_a_whole() {
  Session s;
  s.call(clear, Nothing{});
  s.call(set_word, Range{0, 8});
  const uint64_t end = s.remote().size();
  const std::vector<uint8_t> source(64, 1);
  Op& beyond = put_add(s, source.data(), kData, source.size(), end / 8, 1);
  Op& no_data = put_add(s, source.data(), end - 8, source.size(), 0, 1);
  for (Op* op : {&beyond, &no_data}) {
    s.ep().until([&] { return op->done(); }, "a refusal");
    EXPECT_EQ(op->status(), CWY_ERR_INVALID);
    EXPECT_TRUE(op->explained());
  }
  EXPECT_EQ(s.call(sum_of, Range{kData, 64}), 0u) << "data of a put that was refused";
  EXPECT_EQ(s.call(word_at, Range{0, 8}), kUntouched) << "counter of a put that was refused";
  const cwyx_counters& calls = table(s.side().settings);
  Op& odd = s.pool().put("put_add");
  const cwy_status status = odd.post([&](cwyc_op* raw) {
    return calls.put_add(s.raw(), source.data(), nullptr, s.remote().base() + kData,
                         s.remote().get(), source.size(), s.remote().base() + 4, s.remote().get(),
                         1, raw);
  });
  EXPECT_EQ(status, CWY_ERR_INVALID);
  cwyx_counter* none = nullptr;
  const auto base = reinterpret_cast<uint64_t>(s.memory().data());
  for (const uint64_t at : {base + 4, base + s.memory().size()})
    EXPECT_EQ(calls.open(s.ep().get(), s.memory().get(), at, &none, nullptr), CWY_ERR_INVALID);
}

// Catches a put that starts too early, or never: once its counter has been raised by the peer, once
// it has been written here.
void starts_a_put() {
  Session s;
  s.call(clear, Nothing{});
  std::memset(s.memory().data(), 0, s.memory().size());
  const cwyx_counters& calls = table(s.side().settings);
  for (uint64_t i = 0; i < 2; ++i) {
    const Counter counter(calls, s.side(), i);
    std::vector<uint8_t> source(3000, 9);
    Op& op = put_when(s, source.data(), kData, source.size(), counter, 3);
    const Range there{kData, source.size()};
    const auto raise = [&] {
      const uint64_t next = counter.value() + 1;
      if (i == 0)
        s.call(raise_theirs, Nothing{});
      else
        std::memcpy(s.memory().data() + 8, &next, sizeof next);
      EXPECT_EQ(counter.value(), next);
    };
    for (uint64_t raised = 0; raised < 3; ++raised) {
      for (int turns = 0; turns < 200; ++turns) s.ep().step();
      EXPECT_TRUE(op.pending()) << "it is over when " << raised << " of 3 were counted";
      EXPECT_EQ(s.call(sum_of, there), 0u) << "it started when " << raised << " of 3 were counted";
      source[0] = source.back() = 1;  // its source is read at its start
      raise();
    }
    s.ep().finish(op, "a put whose counter is high enough");
    EXPECT_EQ(s.call(sum_of, there), 9 * (source.size() - 2) + 2);
    // Behind its time a put starts at once.
    s.ep().finish(put_when(s, source.data(), kData, source.size(), counter, 3), "a late put");
    s.call(clear, Nothing{});
  }
}

// Catches puts that wait for ever once their counter is closed, or their connection purged.
void waiting_puts_end() {
  Session s;
  s.call(clear, Nothing{});
  std::memset(s.memory().data(), 0, s.memory().size());
  const cwyx_counters& calls = table(s.side().settings);
  const std::vector<uint8_t> source(3000, 9);
  Counter closed(calls, s.side(), 0), other(calls, s.side(), 1);
  Op& first = put_when(s, source.data(), kData, source.size(), closed, 1);
  Op& second = put_when(s, source.data(), kData, source.size(), other, 1);
  closed.close();
  EXPECT_TRUE(first.done());
  EXPECT_EQ(first.status(), CWY_ERR_INVALID);
  EXPECT_TRUE(first.explained());
  EXPECT_TRUE(second.pending()) << "it waits for another counter";
  s.conn().purge();
  EXPECT_TRUE(second.done());
  EXPECT_EQ(second.status(), CWY_ERR_PEER_FAILED);
  EXPECT_EQ(s.call(sum_of, Range{kData, source.size()}), 0u);
}

constexpr uint32_t kNeeds = kPut | kMemory | kProcess;
const Cases cases{
    {"Counter", "lookup_is_exact", kNothing, [] { lookup_is_exact("counters"); }},
    {"Counter", "raised_behind_the_data", kNeeds, raised_behind_the_data},
    {"Counter", "adds_up", kNeeds, adds_up},
    {"Counter", "refused_as_a_whole", kNeeds, refused_as_a_whole},
    {"Counter", "starts_a_put", kNeeds, starts_a_put},
    {"Counter", "waiting_puts_end", kNeeds, waiting_puts_end},
};

}  // namespace
}  // namespace causeway::conformance
