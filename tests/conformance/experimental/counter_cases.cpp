// Counters (causeway/experimental.h) of a conduit that offers them, with the harness of the suite.
// They are outside of the interface's freeze, so these cases are not installed.
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "../harness/cases.h"
#include "lookup.h"
#include "peer_memory.h"

namespace causeway::conformance {
namespace {

constexpr uint64_t kWords = 64;         // counters lie in the first so many words of the memory
constexpr uint64_t kData = 8 * kWords;  // and data behind them
constexpr uint64_t kSlot = 48 << 10;    // room for the data of a put, whose copy lasts microseconds
constexpr uint64_t kUntouched = 1000000;  // the value of a word that nothing may raise

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
  uint64_t length(uint64_t i) const { return i * 7919 % kSlot; }
};
struct Found {
  uint64_t raised, early, wrong;  // wrong: values of words
};

// A second thread looks, as the first one is inside the conduit while data arrives.
class Watch {
 public:
  Watch(Side& side, const Expected& e) : e_(e), data_(side.memory->data() + kData) {
    const cwyx_counters& calls = table(side.settings);
    for (uint64_t i = 0; i < e.count; ++i) {
      words_.push_back(std::make_unique<Counter>(calls, side, i));
      wanted_.emplace_back(e.length(i) + 1);
      fill_pattern(wanted_[i].data(), e.length(i), i);
    }
    thread_ = std::thread([this] { look(); });
    while (!runs_.load(std::memory_order_relaxed)) sched_yield();
  }
  ~Watch() {
    enough_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  uint64_t raised() const { return raised_.load(std::memory_order_relaxed); }
  Found found() {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < e_.count; ++i) wrong += words_[i]->value() != e_.add(i) ? 1 : 0;
    return {raised(), early_.load(std::memory_order_relaxed), wrong};
  }

 private:
  void look() {
    std::vector<bool> seen(e_.count);
    runs_.store(true, std::memory_order_relaxed);
    while (!enough_.load(std::memory_order_relaxed))
      for (uint64_t i = 0; i < e_.count; ++i) {
        if (seen[i] || words_[i]->value() == 0) continue;
        if (!is_whole(i)) early_.fetch_add(1, std::memory_order_relaxed);
        seen[i] = true;
        raised_.fetch_add(1, std::memory_order_relaxed);
      }
  }
  // The last bytes first: a copy that goes on is not overtaken.
  bool is_whole(uint64_t i) const {
    const uint8_t* const at = data_ + i * kSlot;
    const size_t length = e_.length(i), tail = std::min<size_t>(length, 64);
    return std::memcmp(at + length - tail, wanted_[i].data() + length - tail, tail) == 0 &&
           std::memcmp(at, wanted_[i].data(), length) == 0;
  }
  const Expected e_;
  const uint8_t* const data_;
  std::vector<std::unique_ptr<Counter>> words_;
  std::vector<std::vector<uint8_t>> wanted_;
  // Numbers alone, which carry nothing: relaxed.
  std::atomic<uint64_t> raised_{0}, early_{0};
  std::atomic<bool> runs_{false}, enough_{false};
  std::thread thread_;
};
std::unique_ptr<Watch> watch;

Nothing start_watch(Side& side, const Expected& e) {
  watch = std::make_unique<Watch>(side, e);
  return {};
}
Found watch_words(Side& side, const Expected& e) {
  try {
    side.ep->until([&] { return watch->raised() == e.count; }, "every counter to be raised", 60);
    // An addition that is made a second time comes soon.
    for (int turns = 0; turns < 500; ++turns) side.ep->step();
  } catch (...) {
    watch.reset();
    throw;
  }
  const Found found = watch->found();
  watch.reset();
  return found;
}

Nothing set_word(Side& side, const Range& word) {
  std::memcpy(side.memory->data() + word.offset, &kUntouched, sizeof kUntouched);
  return {};
}
// Other memory of this side, with a card of its own.
std::unique_ptr<Memory> lent_memory;
Card lend(Side& side, const Nothing&) {
  lent_memory = Memory::best(*side.domain, side.ep->attr().caps, 4096);
  Card card = side.card;
  lent_memory->pack(card);
  return card;
}
Nothing take_back(Side&, const Nothing&) {
  lent_memory.reset();
  return {};
}
uint64_t word_at(Side& side, const Range& word) {
  uint64_t value;
  std::memcpy(&value, side.memory->data() + word.offset, sizeof value);
  return value;
}

Nothing leave(Side& side, const Nothing&) {
  side.close();
  return {};
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
  if (is_error(status)) throw Error(status, "put_add answered {}", status_name(status));
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
  if (is_error(status)) throw Error(status, "put_when answered {}", status_name(status));
  return op;
}

void raise_behind_the_data(Session& s) {
  s.call(clear, Nothing{});
  const Expected e{kWords};
  s.call(start_watch, e);
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

// Catches a counter that is raised before its data is there, twice, never, or by something else.
// The moment between data and counter is short: ten rounds.
void raised_behind_the_data() {
  Session s;
  for (int round = 0; round < 10; ++round) raise_behind_the_data(s);
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

// Catches data of a put whose counter is refused, the counter of a put whose data is refused, a
// counter that is not aligned, and a counter that is reached by the key of the data.
void refused_as_a_whole() {
  Session s;
  s.call(clear, Nothing{});
  s.call(set_word, Range{0, 8});
  const uint64_t end = s.remote().size();
  const std::vector<uint8_t> source(64, 1);
  Op& beyond = put_add(s, source.data(), kData, source.size(), end / 8, 1);
  Op& no_data = put_add(s, source.data(), end - 8, source.size(), 0, 1);
  // The key of another memory, beside the put's own.
  const Card other = s.call(lend, Nothing{});
  const RemoteMemory lent(s.ep(), other, false);
  Op& no_right = s.pool().put("put_add");
  const cwyx_counters& calls = table(s.side().settings);
  s.ep().retry(
      [&] {
        return no_right.post([&](cwyc_op* raw) {
          return calls.put_add(s.raw(), source.data(), nullptr, s.remote().base() + kData,
                               s.remote().get(), source.size(), s.remote().base(), lent.get(), 1,
                               raw);
        });
      },
      "put_add");
  for (Op* op : {&beyond, &no_data, &no_right}) {
    s.ep().until([&] { return op->done(); }, "a refusal");
    EXPECT_EQ(op->status(), CWY_ERR_INVALID);
    EXPECT_TRUE(op->explained());
  }
  EXPECT_EQ(s.call(sum_of, Range{kData, 64}), 0u) << "data of a put that was refused";
  EXPECT_EQ(s.call(word_at, Range{0, 8}), kUntouched) << "counter of a put that was refused";
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
  s.call(take_back, Nothing{});
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

// Catches a bound on puts that wait, which the caller that is to raise their counter would never
// leave.
void many_wait() {
  Session s;
  s.call(clear, Nothing{});
  std::memset(s.memory().data(), 0, s.memory().size());
  constexpr uint64_t many = 3000;
  const uint64_t go = 1;
  const Counter counter(table(s.side().settings), s.side(), 0);
  const std::vector<uint8_t> source(kSlot, 1);
  std::vector<Op*> ops;
  for (uint64_t i = 0; i < many; ++i)
    ops.push_back(&put_when(s, source.data(), kData + i * 8, 8, counter, go));
  std::memcpy(s.memory().data(), &go, sizeof go);
  for (Op* op : ops) s.ep().finish(*op, "a put that waited among many", 30);
  EXPECT_EQ(s.call(sum_of, Range{kData, 8 * many}), 8 * many);
}

// Catches a sleep that the counter of a waiting put does not end, as this process raises it.
void sleep_ends() {
  Session s;
  s.call(clear, Nothing{});
  std::memset(s.memory().data(), 0, s.memory().size());
  if (s.ep().module().wait_fd == nullptr) throw Skip{"wait_fd"};
  int fd = -1;
  require_ok(s.ep().module().wait_fd(s.ep().get(), &fd), "wait_fd");
  const uint64_t go = 1;
  const Counter counter(table(s.side().settings), s.side(), 0);
  const std::vector<uint8_t> source(3000, 1);
  Op& op = put_when(s, source.data(), kData, source.size(), counter, go);
  for (int turns = 0; turns < 200; ++turns) s.ep().step();
  const cwy_status armed = s.ep().module().arm(s.ep().get());
  std::memcpy(s.memory().data(), &go, sizeof go);
  if (armed == CWY_OK) {
    pollfd one{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&one, 1, 5000), 1) << "arm answered OK, and nothing ends the sleep";
  }
  s.ep().finish(op, "a put whose counter is high enough");
}

// Catches puts that wait for ever once their peer has left, and a put that is accepted then.
void peer_leaves() {
  Session s;
  std::memset(s.memory().data(), 0, s.memory().size());
  const Counter counter(table(s.side().settings), s.side(), 0);
  const std::vector<uint8_t> source(3000, 1);
  Op& op = put_when(s, source.data(), kData, source.size(), counter, 1);
  s.call(leave, Nothing{});
  s.ep().until([&] { return op.done(); }, "the end of a put whose peer has left");
  EXPECT_EQ(op.status(), CWY_ERR_PEER_FAILED);
  Op& late = s.pool().put("put_when");
  const cwy_status status = late.post([&](cwyc_op* raw) {
    return table(s.side().settings)
        .put_when(s.raw(), source.data(), nullptr, s.remote().base(), s.remote().get(), 8,
                  counter.get(), 1, raw);
  });
  EXPECT_EQ(status, CWY_ERR_PEER_FAILED);
}

// Catches puts that wait for ever once their device has failed.
void device_fails() {
  SideOptions options;
  options.failing = 1;
  Session s(options);
  std::memset(s.memory().data(), 0, s.memory().size());
  const Counter counter(table(s.side().settings), s.side(), 0);
  const std::vector<uint8_t> source(3000, 1);
  Op& op = put_when(s, source.data(), kData, source.size(), counter, 1);
  cwy_status status = CWY_OK;
  for (int i = 0; i < 10'000 && !is_error(status); ++i) {
    Op& other = s.pool().put("put");
    status = s.ep().retry(
        [&] {
          return other.post([&](cwyc_op* raw) {
            return s.ops().put(s.raw(), source.data(), nullptr, s.remote().base() + kData,
                               s.remote().get(), 8, 0, raw);
          });
        },
        "put");
    s.ep().step();
  }
  EXPECT_EQ(status, CWY_ERR_DEVICE_FAILED);
  s.ep().until([&] { return op.done(); }, "the end of a put whose device has failed");
  EXPECT_EQ(op.status(), CWY_ERR_DEVICE_FAILED);
  EXPECT_TRUE(op.explained());
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
    {"Counter", "many_wait", kNeeds, many_wait},
    {"Counter", "sleep_ends", kNeeds, sleep_ends},
    {"Counter", "waiting_puts_end", kNeeds, waiting_puts_end},
    {"Counter", "peer_leaves", kNeeds, peer_leaves},
    {"Counter", "device_fails", kNeeds | kFailing, device_fails},
};

}  // namespace
}  // namespace causeway::conformance
