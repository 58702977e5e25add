// Data integrity wherever a conduit may change how it moves bytes: around each limit it declares
// and at the sizes where libraries switch, at every alignment; and when a source may be reused.

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr size_t kMost = 3u << 20;
constexpr size_t kSpan = kMost + 128;  // a place for one transfer, with guards

// Each limit of the endpoint, and the usual ones, with both neighbours.
std::vector<size_t> switch_sizes(const cwyc_ep_attr& attr, uint64_t most) {
  std::set<size_t> sizes;
  const uint64_t largest = kMost / kSlowdown;
  const auto around = [&](uint64_t limit) {
    if (limit == 0 || limit > largest) return;
    for (const uint64_t n : {limit - 1, limit, limit + 1})
      if (n != 0 && n <= most) sizes.insert(static_cast<size_t>(n));
  };
  for (const uint64_t limit : {attr.am_medium_max, attr.am_long_max, attr.rma_max}) around(limit);
  for (size_t p = 64; p <= 2u << 20; p *= 2) around(p);
  return {sizes.begin(), sizes.end()};
}

uint64_t rma_limit(const cwyc_ep_attr& attr) {
  return attr.rma_max == 0 ? UINT64_MAX : attr.rma_max;
}

// Many transfers are judged in one call: each call is a switch between two processes.
struct Transfers {
  uint32_t count;
  struct One {
    uint32_t offset, length, key;
  } one[300];
};

constexpr uint8_t kBlank = 0x3c;

Nothing blank_all(Side& side, const Nothing&) {
  std::memset(side.memory->data(), kBlank, side.memory->size());
  return {};
}
Nothing fill_all(Side& side, const Transfers& all) {
  for (uint32_t i = 0; i < all.count; ++i)
    fill_pattern(side.memory->data() + all.one[i].offset, all.one[i].length, all.one[i].key);
  return {};
}
// Index of the first one that is not as it should be, or the count.
uint32_t judge_all(Side& side, const Transfers& all) {
  for (uint32_t i = 0; i < all.count; ++i) {
    const auto& t = all.one[i];
    const uint8_t* data = side.memory->data() + t.offset;
    if (first_difference(data, t.length, t.key) != t.length) return i;
    if (data[-1] != kBlank || data[t.length] != kBlank) return i;
  }
  return all.count;
}

// As many as fit next to each other, each at another alignment.
std::vector<Transfers> plan_transfers(Session& s, const std::vector<size_t>& sizes) {
  std::vector<Transfers> rounds;
  uint64_t at = s.memory().size();
  uint32_t key = 1;
  for (const size_t size : sizes) {
    for (uint32_t copy = 0; copy < (size <= 8192 ? 4u : 2u); ++copy, ++key) {
      const uint64_t misalign = 64 + (key * 7 + copy) % 64;
      const bool full = rounds.empty() || rounds.back().count == std::size(Transfers{}.one);
      if (full || at + misalign + size + 64 > s.memory().size()) {
        rounds.push_back({});
        at = 0;
      }
      Transfers& t = rounds.back();
      t.one[t.count++] = {static_cast<uint32_t>(at + misalign), static_cast<uint32_t>(size), key};
      at += misalign + size + 64;
    }
  }
  return rounds;
}

// Catches switches between inline, buffered, segmented and zero-copy paths that are wrong by one,
// or at an alignment. The puts of a round are under way together.
void put_at_every_switch() {
  Session s({.memory = 2 * kSpan});
  std::vector<uint8_t> source(kMost + 4096);
  for (const Transfers& round :
       plan_transfers(s, switch_sizes(s.ep().attr(), rma_limit(s.ep().attr())))) {
    s.call(blank_all, Nothing{});
    std::vector<std::vector<uint8_t>> sources;
    for (uint32_t i = 0; i < round.count; ++i) {
      const auto& t = round.one[i];
      std::vector<uint8_t>& from = sources.emplace_back(t.length + 64);
      uint8_t* start = from.data() + t.key % 61;
      fill_pattern(start, t.length, t.key);
      Op& op = s.pool().put();
      const cwy_status status = s.ep().retry(
          [&] {
            return op.post([&](cwyc_op* raw) {
              return s.ops().put(s.raw(), start, nullptr, s.remote().base() + t.offset,
                                 s.remote().get(), t.length, 0, raw);
            });
          },
          "put");
      ASSERT_GE(status, 0) << "a put of " << t.length << ": " << status_name(status);
    }
    s.ep().until([&] { return s.pool().unfinished() == 0; }, "completion of a round of puts", 30.0);
    const uint32_t wrong = s.call(judge_all, round);
    ASSERT_EQ(wrong, round.count) << "a put of " << round.one[wrong].length << " bytes to offset "
                                  << round.one[wrong].offset << " was wrong";
  }
}

void get_at_every_switch() {
  Session s({.memory = 2 * kSpan});
  for (const Transfers& round :
       plan_transfers(s, switch_sizes(s.ep().attr(), rma_limit(s.ep().attr())))) {
    s.call(fill_all, round);
    std::vector<std::vector<uint8_t>> back;
    for (uint32_t i = 0; i < round.count; ++i) {
      const auto& t = round.one[i];
      std::vector<uint8_t>& to = back.emplace_back(t.length + 128, kBlank);
      Op& op = s.pool().fetch();
      const cwy_status status = s.ep().retry(
          [&] {
            return op.post([&](cwyc_op* raw) {
              return s.ops().get(s.raw(), to.data() + 1 + t.key % 61, nullptr,
                                 s.remote().base() + t.offset, s.remote().get(), t.length, 0, raw);
            });
          },
          "get");
      ASSERT_GE(status, 0) << "a get of " << t.length << ": " << status_name(status);
    }
    s.ep().until([&] { return s.pool().unfinished() == 0; }, "completion of a round of gets", 30.0);
    for (uint32_t i = 0; i < round.count; ++i) {
      const auto& t = round.one[i];
      const uint8_t* data = back[i].data() + 1 + t.key % 61;
      ASSERT_EQ(first_difference(data, t.length, t.key), t.length) << "a get of " << t.length;
      ASSERT_TRUE(data[-1] == kBlank && data[t.length] == kBlank)
          << "a get of " << t.length << " wrote beside its buffer";
    }
  }
}

// Catches a source that is read after LOCAL was reported, and a put with SRC_VOLATILE that does not
// report it at once although its source is small.
constexpr uint64_t kAlwaysCopied = 512;  // section 8, SRC_VOLATILE

void source_reusable_after_local() {
  Session s;
  std::vector<uint8_t> source(100'000);
  for (uint32_t key = 1; key <= 12 + 48 / kSlowdown; ++key) {
    const bool at_once = key % 3 == 0;
    const uint64_t most =
        std::min<uint64_t>(rma_limit(s.ep().attr()), at_once ? kAlwaysCopied : source.size());
    const Transfers::One one{128, static_cast<uint32_t>(1 + s.random.below(most)), key};
    Transfers all{1, {one}};
    s.call(blank_all, Nothing{});
    fill_pattern(source.data(), one.length, key);
    const uint32_t flags = key % 3 != 1 ? uint32_t{CWYC_SRC_VOLATILE} : 0;
    Op& op = s.pool().put();
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().put(s.raw(), source.data(), nullptr, s.remote().base() + one.offset,
                               s.remote().get(), one.length, flags, raw);
          });
        },
        "put");
    ASSERT_GE(status, 0) << status_name(status);
    if (at_once) {
      ASSERT_TRUE(op.has(CWYC_DONE_LOCAL))
          << "LOCAL of a put of " << one.length << " with SRC_VOLATILE did not come at once";
    }
    s.ep().until([&] { return op.has(CWYC_DONE_LOCAL); }, "LOCAL of a put");
    std::memset(source.data(), 0x99, source.size());
    s.ep().finish(op, "put");
    ASSERT_EQ(op.status(), CWY_OK);
    ASSERT_EQ(s.call(judge_all, all), 1u)
        << "the source of a put of " << one.length << " was read after LOCAL";
  }
}

// Catches zero lengths that are refused, that move something, or that never complete.
void zero_lengths() {
  Session s;
  s.call(blank_all, Nothing{});
  const cwyc_ops& o = s.ops();
  uint8_t byte = 0x77;
  const cwyc_iov here{&byte, 0};
  const cwyc_riov there{s.remote().base() + 128, 0};
  const cwyc_vector vector{CWY_HEAD(cwyc_vector), &here, 1, nullptr, &there, 1, s.remote().get()};
  const uint64_t raddr = s.remote().base() + 128;
  const auto run = [&](bool present, Op& op, const char* what,
                       const std::function<cwy_status(cwyc_op*)>& post) {
    if (!present) return;
    const cwy_status status = s.ep().retry([&] { return op.post(post); }, what);
    EXPECT_GE(status, 0) << what << " of 0 bytes: " << status_name(status);
    s.ep().finish(op, what);
    EXPECT_EQ(op.status(), CWY_OK) << what << " of 0 bytes";
  };
  run(o.put != nullptr, s.pool().put(), "put", [&](cwyc_op* raw) {
    return o.put(s.raw(), &byte, nullptr, raddr, s.remote().get(), 0, 0, raw);
  });
  run(o.get != nullptr, s.pool().fetch(), "get", [&](cwyc_op* raw) {
    return o.get(s.raw(), &byte, nullptr, raddr, s.remote().get(), 0, 0, raw);
  });
  run(o.putv != nullptr, s.pool().put(), "putv",
      [&](cwyc_op* raw) { return o.putv(s.raw(), &vector, 0, raw); });
  run(o.getv != nullptr, s.pool().fetch(), "getv",
      [&](cwyc_op* raw) { return o.getv(s.raw(), &vector, 0, raw); });
  EXPECT_EQ(byte, 0x77) << "something was moved";
  const auto seen = s.call(
      +[](Side& side, const Nothing&) -> uint64_t { return side.memory->data()[128]; }, Nothing{});
  EXPECT_EQ(seen, kBlank);
}

const Cases cases{
    {"Switch", "put_at_every_switch", kPut | kMemory, put_at_every_switch},
    {"Switch", "get_at_every_switch", kGet | kMemory, get_at_every_switch},
    {"Switch", "source_reusable_after_local", kPut | kMemory, source_reusable_after_local},
    {"Switch", "zero_lengths", kMemory, zero_lengths},
};

}  // namespace
}  // namespace causeway::conformance
