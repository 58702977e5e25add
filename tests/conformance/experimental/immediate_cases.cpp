// Puts that bring a number (causeway/experimental.h) of a conduit that offers them, with the
// harness of the suite. They are outside of the interface's freeze, so these cases are not
// installed.
#include <cstdint>
#include <memory>
#include <vector>

#include "../harness/cases.h"
#include "lookup.h"
#include "peer_memory.h"

namespace causeway::conformance {
namespace {

constexpr uint64_t kSlot = 8 << 10;  // room for the data of a put
constexpr uint32_t kPuts = 300;

const cwyx_immediate& table(const Settings& settings) {
  return find_table<cwyx_immediate>(settings, "immediate");
}
// From 0 to more than a conduit copies.
uint64_t length_of(uint32_t data) {
  return data * 397 % kSlot;
}

// ---- the peer's side -------------------------------------------------------------------------

struct Wanted {
  uint32_t count, rank, epoch;
};
struct Told {
  uint32_t told, twice, early, strange, lengths, numbers;  // strange: another sender than the peer
};

struct Listener {
  Side& side;
  Wanted wanted;
  Told told{};
  std::vector<bool> seen;

  static void hear(void* arg, cwy_peer from, uint32_t data, size_t length) {
    static_cast<Listener*>(arg)->take(from, data, length);
  }
  void take(cwy_peer from, uint32_t data, size_t length) {
    ++told.told;
    if (from.rank != wanted.rank || from.epoch != wanted.epoch) ++told.strange;
    const uint32_t number = ~data;  // the highest bits travel, too
    if (number >= wanted.count) {
      ++told.numbers;
      return;
    }
    if (seen[number]) ++told.twice;
    seen[number] = true;
    if (length != length_of(number)) ++told.lengths;
    const uint8_t* const data_there = side.memory->data() + number * kSlot;
    const size_t whole = length_of(number);
    if (first_difference(data_there, whole, number) != whole) ++told.early;
  }
};
std::unique_ptr<Listener> listener;

// Answers the status of a second listener.
cwy_status listen(Side& side, const Wanted& wanted) {
  const cwyx_immediate& calls = table(side.settings);
  listener.reset(new Listener{side, wanted, {}, std::vector<bool>(wanted.count)});
  require_ok(calls.listen(side.ep->get(), Listener::hear, listener.get(), nullptr), "listen");
  return calls.listen(side.ep->get(), Listener::hear, listener.get(), nullptr);
}
Told hear_all(Side& side, const Nothing&) {
  const Told& told = listener->told;
  side.ep->until([&] { return told.told >= listener->wanted.count; }, "every put's number", 60);
  // A number that came a second time would come soon.
  for (int turns = 0; turns < 2000; ++turns) side.ep->step();
  require_ok(table(side.settings).listen(side.ep->get(), nullptr, nullptr, nullptr), "listen");
  return told;
}

// ---- cases -----------------------------------------------------------------------------------

Op& put(Session& s, const void* source, uint64_t offset, uint64_t length, uint32_t data) {
  const cwyx_immediate& calls = table(s.side().settings);
  Op& op = s.pool().put("put");
  const cwy_status status = s.ep().retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return calls.put(s.raw(), source, nullptr, s.remote().base() + offset, s.remote().get(),
                           length, data, raw);
        });
      },
      "put");
  if (is_error(status)) throw Error(status, "put answered {}", status_name(status));
  return op;
}

// Catches a number that is told before its data is there, twice, never, cut, of another sender, or
// with another length.
void told_behind_the_data() {
  Session s;
  s.call(clear, Nothing{});
  const cwy_peer self = s.side().card.peer;
  EXPECT_EQ(s.call(listen, Wanted{kPuts, self.rank, self.epoch}), CWY_ERR_INVALID);
  s.start(hear_all, Nothing{});
  std::vector<std::vector<uint8_t>> sources(kPuts);
  std::vector<Op*> ops;
  for (uint32_t i = 0; i < kPuts; ++i) {
    sources[i].resize(length_of(i));
    fill_pattern(sources[i].data(), length_of(i), i);
    ops.push_back(&put(s, sources[i].data(), i * kSlot, length_of(i), ~i));
  }
  const Told told = s.finish<Told>(90);
  EXPECT_EQ(told.told, kPuts);
  EXPECT_EQ(told.twice, 0u);
  EXPECT_EQ(told.early, 0u) << "numbers came before their data";
  EXPECT_EQ(told.strange, 0u) << "numbers came with another sender";
  EXPECT_EQ(told.lengths, 0u) << "numbers came with another length";
  EXPECT_EQ(told.numbers, 0u) << "numbers that were not sent";
  for (Op* op : ops) s.ep().finish(*op, "put");
}

// Catches a put that is written where nobody listens, and a put that is told although its memory is
// refused.
void refused_as_a_whole() {
  Session s;
  s.call(clear, Nothing{});
  const std::vector<uint8_t> source(3000, 1);
  Op& unheard = put(s, source.data(), 0, source.size(), 7);
  s.ep().until([&] { return unheard.done(); }, "a refusal");
  EXPECT_EQ(unheard.status(), CWY_ERR_UNSUPPORTED);
  EXPECT_TRUE(unheard.explained());
  EXPECT_EQ(s.call(sum_of, Range{0, source.size()}), 0u) << "data of a put that was refused";
  const cwy_peer self = s.side().card.peer;
  EXPECT_EQ(s.call(listen, Wanted{1, self.rank, self.epoch}), CWY_ERR_INVALID);
  s.start(hear_all, Nothing{});
  Op& beyond = put(s, source.data(), s.remote().size() - 8, source.size(), 7);
  s.ep().until([&] { return beyond.done(); }, "a refusal");
  EXPECT_EQ(beyond.status(), CWY_ERR_INVALID);
  s.ep().finish(put(s, nullptr, 0, 0, ~0u), "an empty put");
  const Told told = s.finish<Told>(60);
  EXPECT_EQ(told.told, 1u) << "a put that was refused brought its number";
  EXPECT_EQ(told.numbers + told.lengths, 0u);
}

constexpr uint32_t kNeeds = kPut | kMemory | kProcess;
const Cases cases{
    {"Immediate", "lookup_is_exact", kNothing, [] { lookup_is_exact("immediate"); }},
    {"Immediate", "told_behind_the_data", kNeeds, told_behind_the_data},
    {"Immediate", "refused_as_a_whole", kNeeds, refused_as_a_whole},
};

}  // namespace
}  // namespace causeway::conformance
