// Remote atomics: the right arithmetic, the previous value, and indivisibility.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "atomic_model.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// Round trips of a network on a crowded machine are slow: after this the rest tells nothing new.
constexpr uint64_t kEnough = 15'000'000'000u;

bool declared(uint32_t dt, uint32_t op) {
  return ((world().attr.atomic_ops[dt] >> op) & 1) != 0;
}

// One atomic, waited for; `previous` is what a fetching one returned.
void run_atomic(Side& side, uint64_t offset, uint32_t dt, uint32_t op, uint64_t a, uint64_t b,
                uint64_t* previous) {
  cwyc_atomic request{};
  request.head = CWY_HEAD(cwyc_atomic);
  request.raddr = side.remote->base() + offset;
  request.operand1 = a;
  request.operand2 = b;
  request.result = fetches(op) ? previous : nullptr;
  request.dt = 1u << dt;
  request.opcode = 1u << op;
  Connection& conn = *side.conn;
  Op& pending = conn.ops_pool().fetch("atomic");
  const cwy_status status = side.ep->retry(
      [&] {
        return pending.post([&](cwyc_op* raw) {
          return conn.ops().atomic(conn.get(), &request, side.remote->get(), 0, raw);
        });
      },
      "atomic");
  if (status < 0) {
    throw Error(status, "atomic (type {}, operation {}) answered {}", dt, op, status_name(status));
  }
  std::memset(&request, 0xdd, sizeof request);  // consumed before return
  side.ep->finish(pending, "atomic");
  require_ok(pending.status(), "atomic (reported)");
}

struct Word {
  uint64_t offset, value;
};
// The pattern before a word shows a write that begins too early.
Nothing set_word(Side& side, const Word& w) {
  std::memset(side.memory->data() + w.offset - 8, 0xa5, 8);
  std::memcpy(side.memory->data() + w.offset, &w.value, 8);
  return {};
}
uint64_t read_word(Side& side, const Word& w) {
  uint64_t value;
  std::memcpy(&value, side.memory->data() + w.offset, 8);
  return value;
}

// Many words in one call: each call is a switch between two processes, which costs a time slice
// where there are more of them than processors.
struct Words {
  uint32_t count;
  Word word[64];
};
Nothing set_words(Side& side, const Words& words) {
  for (uint32_t i = 0; i < words.count; ++i) set_word(side, words.word[i]);
  return {};
}
Words read_words(Side& side, const Words& words) {
  Words found = words;
  for (uint32_t i = 0; i < words.count; ++i) {
    found.word[i].value = read_word(side, words.word[i]);
    uint64_t before;
    std::memcpy(&before, side.memory->data() + words.word[i].offset - 8, 8);
    if (before != 0xa5a5a5a5a5a5a5a5u) found.word[i].offset = 0;
  }
  return found;
}

template <typename T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Values where sign, width and wrap-around matter. Floats: sums and products are exact.
std::vector<uint64_t> values(uint32_t dt, Random& random) {
  switch (dt) {
    case kFlt:
      return {bits_of(0.0f), bits_of(1.5f), bits_of(-2.25f), bits_of(1024.0f)};
    case kDbl:
      return {bits_of(0.0), bits_of(1.5), bits_of(-2.25), bits_of(1e9)};
    case kI32:
    case kU32:
      return {0, 1, 0x7fffffffu, 0x80000000u, 0xffffffffu, random.next() & 0xffffffffu};
    default:
      return {0, 1, uint64_t{0x7fffffffffffffff}, uint64_t{1} << 63, ~uint64_t{0}, random.next()};
  }
}

// Every value of the type with every other, each pair on a word of its own.
void check_pair(Session& s, uint32_t dt, uint32_t op) {
  const uint64_t high = width(dt) == 4 ? 0xfeedface00000000u : 0;
  const uint64_t swap_to = values(dt, s.random).back();
  struct Operands {
    uint64_t old, a;
  };
  std::vector<Operands> all;
  for (const uint64_t old : values(dt, s.random)) {
    for (const uint64_t a : values(dt, s.random)) all.push_back({old, a});
  }
  Words words{};
  words.count = static_cast<uint32_t>(all.size());
  ASSERT_LE(all.size(), std::size(words.word));
  for (uint32_t i = 0; i < words.count; ++i) {
    // A stretch of 128 bytes each, with room for the pattern of the next.
    words.word[i] = {64 + 128 * i + 8 * s.random.below(15), all[i].old | high};
  }
  s.call(set_words, words);
  for (uint32_t i = 0; i < words.count; ++i) {
    uint64_t previous = 0;
    run_atomic(s.side(), words.word[i].offset, dt, op, all[i].a, swap_to, &previous);
    if (fetches(op)) {
      ASSERT_EQ(previous, all[i].old) << fmt::format("fetched, type {}, operation {}", dt, op);
    }
  }
  const Words found = s.call(read_words, words);
  for (uint32_t i = 0; i < words.count; ++i) {
    const std::string what =
        fmt::format("type {}, operation {}, {:#x} with {:#x}", dt, op, all[i].old, all[i].a);
    ASSERT_EQ(found.word[i].value, model_bits(dt, op, all[i].old, all[i].a, swap_to) | high)
        << what;
    ASSERT_EQ(found.word[i].offset, words.word[i].offset) << what << ": the bytes before changed";
  }
}

// Catches wrong arithmetic, signed taken for unsigned, 64 bits written for a 32-bit type, and a
// fetched value that is the new one.
void every_declared_pair() {
  Session s({.memory = 65536});
  uint32_t pairs = 0;
  for (uint32_t dt = 0; dt < kDataTypes; ++dt) {
    for (uint32_t op = 0; op < kOperations; ++op) {
      if (!declared(dt, op)) continue;
      ++pairs;
      check_pair(s, dt, op);
      if (has_failure()) return;
    }
  }
  EXPECT_GT(pairs, 0u);
}

// Catches a result that is written wider than its type: bytes around it are the caller's.
void result_has_its_own_size() {
  Session s({.memory = 65536});
  s.call(set_word, Word{64, 7});
  constexpr size_t at = 16;
  uint32_t pairs = 0;
  for (uint32_t dt = 0; dt < kDataTypes; ++dt) {
    for (uint32_t op = 0; op < kOperations; ++op) {
      if (!declared(dt, op) || !fetches(op)) continue;
      ++pairs;
      alignas(16) uint8_t bytes[48];
      std::memset(bytes, 0xa5, sizeof bytes);
      run_atomic(s.side(), 64, dt, op, 0, 0, reinterpret_cast<uint64_t*>(bytes + at));
      for (size_t i = 0; i < sizeof bytes; ++i) {
        if (i >= at && i < at + width(dt)) continue;
        ASSERT_EQ(bytes[i], 0xa5) << fmt::format(
            "byte {} of a result of {}, type {}, operation {}",
            static_cast<ptrdiff_t>(i) - static_cast<ptrdiff_t>(at), width(dt), dt, op);
      }
    }
  }
  if (pairs == 0) throw Skip{"a fetching atomic"};
}

// Catches compare-and-swap that fails though the value is equal (LL/SC loops without retry), or
// that swaps though it differs.
void cas_never_fails_spuriously() {
  if (!declared(kU64, kFcas)) throw Skip{"atomic FCAS on U64"};
  Session s({.memory = 65536});
  s.call(set_word, Word{64, 0});
  const uint64_t most = 20'000 / kSlowdown, end = now_ns() + kEnough;
  uint64_t rounds = 0;
  for (uint64_t i = 0; i < most && now_ns() < end; ++i, ++rounds) {
    uint64_t previous = ~uint64_t{0};
    run_atomic(s.side(), 64, kU64, kFcas, i, i + 1, &previous);
    ASSERT_EQ(previous, i) << "a compare-and-swap of the right value failed";
    if (i % 16 == 0) {
      run_atomic(s.side(), 64, kU64, kFcas, i, 77, &previous);
      ASSERT_EQ(previous, i + 1);
    }
  }
  EXPECT_EQ(s.call(read_word, Word{64, 0}), rounds);
}

// ---- both at once ---------------------------------------------------------------------------

// Both begin together, or the race that is looked for never happens.
void meet_at_slot(size_t slot, const std::function<void()>& meanwhile) {
  blackboard().slot[slot].fetch_add(1);
  const Deadline deadline("the other side's start");
  while (blackboard().slot[slot].load() < 2) {
    meanwhile();
    deadline.check();
  }
}

// Adds to the word in `side.remote`, by fetch-add, plain add and compare-and-swap in turn.
uint64_t hammer(Side& side, const uint64_t& rounds) {
  uint64_t added = 0;
  const uint64_t end = now_ns() + kEnough;
  for (uint64_t i = 0; i < rounds && now_ns() < end; ++i) {
    uint64_t previous = 0;
    if (declared(kU64, kFcas) && i % 3 == 0) {
      run_atomic(side, 64, kU64, kGetOp, 0, 0, &previous);
      const uint64_t seen = previous;
      run_atomic(side, 64, kU64, kFcas, seen, seen + 1, &previous);
      added += previous == seen ? 1 : 0;
    } else if (declared(kU64, kFetching + kAdd) && i % 3 == 1) {
      run_atomic(side, 64, kU64, kFetching + kAdd, 1, 0, &previous);
      ++added;
    } else {
      run_atomic(side, 64, kU64, kAdd, 1, 0, nullptr);
      ++added;
    }
  }
  return added;
}

// The owner of the word, with its processor's own atomics, for as long as the other side is at it:
// one thread adds, beside another's progress, which may be what carries the other side's out.
uint64_t hammer_own_word(Side& side, const Nothing&) {
  auto* word = reinterpret_cast<uint64_t*>(side.memory->data() + 64);
  meet_at_slot(1, [&] { side.ep->step(); });
  const uint64_t end = now_ns() + 2 * kEnough;
  const auto over = [&] { return blackboard().slot[2].load() != 0 || now_ns() > end; };
  uint64_t added = 0;
  std::jthread owner([&] {
    // Relaxed: only the sum matters.
    for (; added % 64 != 0 || !over(); ++added) __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
  });
  while (!over()) side.ep->step();
  owner.join();
  return added;
}

// Catches read-modify-write that is not one step, and atomics that are not coherent with the
// processor's although ATOMIC_CPU says so.
void concurrent_with_the_processor() {
  if ((world().attr.caps & CWYC_CAP_ATOMIC_CPU) == 0) throw Skip{"atomic_cpu"};
  if (!declared(kU64, kAdd)) throw Skip{"atomic ADD on U64"};
  Session s({.memory = 65536});
  s.call(set_word, Word{64, 0});
  const uint64_t rounds = 30'000 / kSlowdown;
  s.start(hammer_own_word, Nothing{});
  meet_at_slot(1, [&] { s.ep().step(); });
  const uint64_t mine = hammer(s.side(), rounds);
  blackboard().slot[2].store(1);
  const auto theirs = s.finish<uint64_t>();
  EXPECT_EQ(s.call(read_word, Word{64, 0}), mine + theirs) << "increments were lost";
}

// One worker with an endpoint and a connection of its own: an endpoint may be SERIAL.
uint64_t hammer_through_own_endpoint(Session& s, uint32_t index, uint64_t rounds) {
  Side worker(world().settings);
  worker.domain = std::make_unique<Domain>(PluginHost::load_conduit(world().settings),
                                           PluginHost::options(), world().settings.device);
  worker.ep = std::make_unique<Endpoint>(*worker.domain, index);
  worker.meet(s.side().peer, s.loopback(), true);
  meet_at_slot(1, [&] { worker.ep->step(); });
  return hammer(worker, rounds);
}

// Catches read-modify-write that is not one step when both sides come through the conduit.
void concurrent_through_the_conduit() {
  if (!declared(kU64, kAdd)) throw Skip{"atomic ADD on U64"};
  Session s({.memory = 65536});
  s.call(set_word, Word{64, 0});
  const uint64_t rounds = 20'000 / kSlowdown;
  uint64_t added[2] = {};
  std::string failure[2];
  std::thread threads[2];
  for (uint32_t t = 0; t < 2; ++t) {
    threads[t] = std::thread([&, t] {
      try {
        added[t] = hammer_through_own_endpoint(s, t + 1, rounds);
      } catch (const std::exception& e) {
        failure[t] = e.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(failure[0] + failure[1], "");
  EXPECT_EQ(s.call(read_word, Word{64, 0}), added[0] + added[1]) << "increments were lost";
}

// Catches atomics whose results are mixed up, lost or doubled when as many as clients are promised
// are under way at once: each of 65535 fetches a value of its own.
void outstanding_fetches() {
  constexpr uint32_t kOutstanding = 65'535;
  const uint32_t fetch_add = kFetching + kAdd;
  if (!declared(kU64, fetch_add)) throw Skip{"atomic FADD on U64"};
  Session s({.memory = 65536});
  s.call(set_word, Word{64, 0});
  std::vector<uint64_t> fetched(kOutstanding, ~uint64_t{0});
  for (uint64_t& result : fetched) {
    cwyc_atomic request{};
    request.head = CWY_HEAD(cwyc_atomic);
    request.raddr = s.remote().base() + 64;
    request.operand1 = 1;
    request.result = &result;
    request.dt = 1u << kU64;
    request.opcode = 1u << fetch_add;
    Op& op = s.pool().fetch("atomic");
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().atomic(s.raw(), &request, s.remote().get(), 0, raw);
          });
        },
        "atomic");
    ASSERT_GE(status, 0) << status_name(status);
  }
  s.ep().until([&] { return s.pool().unfinished() == 0; }, "completion of 65535 atomics", 60.0);
  std::sort(fetched.begin(), fetched.end());
  for (uint32_t i = 0; i < kOutstanding; ++i) ASSERT_EQ(fetched[i], i) << "not each value once";
  EXPECT_EQ(s.call(read_word, Word{64, 0}), kOutstanding);
}

const Cases cases{
    {"Atomic", "outstanding_65535_fetches", kAtomic | kMemory, outstanding_fetches},
    {"Atomic", "every_declared_pair", kAtomic | kMemory, every_declared_pair},
    {"Atomic", "result_has_its_own_size", kAtomic | kMemory, result_has_its_own_size},
    {"Atomic", "cas_never_fails_spuriously", kAtomic | kMemory, cas_never_fails_spuriously},
    {"Atomic", "concurrent_with_the_processor", kAtomic | kMemory | kProcess,
     concurrent_with_the_processor},
    {"Atomic", "concurrent_through_the_conduit", kAtomic | kMemory, concurrent_through_the_conduit},
};

}  // namespace
}  // namespace causeway::conformance
