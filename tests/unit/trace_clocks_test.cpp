// The one clock of a trace's ranks, and whose record of a message belongs to whose.
#include "tools/command/trace_clocks.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace causeway::command {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

Trace trace_of(uint32_t rank, const char* host, uint64_t begin) {
  Trace out;
  out.header.rank = rank;
  out.header.size = 4;
  out.header.begin_ns = begin;
  std::snprintf(out.header.host, sizeof out.header.host, "%s", host);
  return out;
}

void add(Trace& trace, uint8_t operation, uint32_t peer, uint64_t tag, uint64_t at) {
  cwyt_record r{};
  r.operation = operation;
  r.peer = peer;
  r.tag = tag;
  r.time_ns = at;
  trace.records.push_back(r);
}
constexpr auto kShort = static_cast<uint8_t>(number_of<&cwyc_ops::am_short>());

// A host's clock: so far ahead at the true time 0, and gaining so many parts in a million.
struct Skew {
  int64_t ahead;
  int64_t gains;
  uint64_t at(int64_t truth) const {
    return static_cast<uint64_t>(truth + ahead + truth / 1'000'000 * gains);
  }
};

// A message a second each way for 100 s, that takes 20 to 300 us.
void exchange(Trace& a, const Skew& of_a, Trace& b, const Skew& of_b) {
  unsigned seed = 1;
  const uint64_t first = a.header.rank * 1000u + b.header.rank * 10'000u;
  for (int64_t i = 1; i <= 100; ++i) {
    const int64_t sent = i * kSecond, got = sent + 20'000 + ::rand_r(&seed) % 280'000;
    const int64_t back = got + 50'000, there = back + 20'000 + ::rand_r(&seed) % 280'000;
    const auto tag = static_cast<uint64_t>(i) + first;
    add(a, kShort, b.header.rank, tag, of_a.at(sent) - a.header.begin_ns);
    add(b, CWYT_RECEIVED_SHORT, a.header.rank, tag, of_b.at(got) - b.header.begin_ns);
    add(b, kShort, a.header.rank, tag, of_b.at(back) - b.header.begin_ns);
    add(a, CWYT_RECEIVED_SHORT, b.header.rank, tag, of_a.at(there) - a.header.begin_ns);
  }
}

// Would catch: clocks that are not brought together, by a difference, by a drift, or over a third
// host where two have no messages for each other.
TEST(Clocks, HostsAgreeByTheirMessages) {
  const Skew skews[] = {{5 * kSecond, 0}, {900 * kSecond, 40}, {2 * kSecond, -25}};
  std::vector<Trace> traces = {trace_of(0, "a", skews[0].at(0)), trace_of(1, "b", skews[1].at(0)),
                               trace_of(2, "c", skews[2].at(0))};
  exchange(traces[0], skews[0], traces[1], skews[1]);
  exchange(traces[1], skews[1], traces[2], skews[2]);
  const auto messages = match_messages(traces);
  EXPECT_EQ(messages.size(), 400u);
  const auto clocks = common_clocks(traces, messages);
  for (size_t t = 0; t < traces.size(); ++t) {
    EXPECT_TRUE(clocks[t].measured);
    // A single difference for all of the time would be wrong by 1 ms at 25 s.
    for (const int64_t truth : {25 * kSecond, 50 * kSecond, 75 * kSecond}) {
      const int64_t seen =
          clocks[t].common(skews[t].at(truth)) - clocks[0].common(skews[0].at(truth));
      EXPECT_LE(std::abs(seen), 300'000) << t << " at " << truth;
    }
  }
  for (const Message& m : messages) {
    const Trace &from = traces[m.from_trace], &to = traces[m.to_trace];
    EXPECT_LE(clocks[m.from_trace].common(begin_of(from, from.records[m.sent])),
              clocks[m.to_trace].common(begin_of(to, to.records[m.received])))
        << "rank " << from.header.rank << " to " << to.header.rank;
  }
}

// Most ways of a busy machine are long, and the short ones of the two directions far apart. Would
// catch: a pace out of two estimates that turns arrows round, and a precision that is better than
// what is known.
TEST(Clocks, NothingArrivesBeforeItWasSent) {
  const Skew skews[] = {{0, 0}, {5000 * kSecond, 0}};
  std::vector<Trace> traces = {trace_of(0, "a", skews[0].at(0)), trace_of(1, "b", skews[1].at(0))};
  unsigned seed = 7;
  for (int64_t i = 1; i <= 200; ++i) {
    const size_t from = i % 2;
    // Only some of the first half are fast one way, only some of the second half the other way.
    const bool fast = i % 20 == (i < 100 ? 1 : 0);
    const int64_t sent = i * kSecond / 100,
                  way = fast ? 20'000 : 2'000'000 + ::rand_r(&seed) % 8'000'000;
    const auto at = [&](size_t rank, int64_t truth) {
      return skews[rank].at(truth) - traces[rank].header.begin_ns;
    };
    add(traces[from], kShort, static_cast<uint32_t>(1 - from), static_cast<uint64_t>(i),
        at(from, sent));
    add(traces[1 - from], CWYT_RECEIVED_SHORT, static_cast<uint32_t>(from),
        static_cast<uint64_t>(i), at(1 - from, sent + way));
  }
  const auto messages = match_messages(traces);
  const auto clocks = common_clocks(traces, messages);
  for (const Message& m : messages) {
    const Trace &from = traces[m.from_trace], &to = traces[m.to_trace];
    EXPECT_LE(clocks[m.from_trace].common(begin_of(from, from.records[m.sent])),
              clocks[m.to_trace].common(begin_of(to, to.records[m.received])));
  }
  const int64_t seen =
      clocks[1].common(skews[1].at(kSecond)) - clocks[0].common(skews[0].at(kSecond));
  EXPECT_LE(std::abs(seen), clocks[1].uncertain_ns + 1);
}

// Would catch: a time of day that is taken for a measurement, or not taken at all.
TEST(Clocks, TimeOfDayWithoutMessages) {
  std::vector<Trace> traces = {trace_of(0, "a", 10), trace_of(1, "b", 500), trace_of(2, "a", 30)};
  traces[0].header.wall_ns = 1010;
  traces[1].header.wall_ns = 1300;
  const auto clocks = common_clocks(traces, match_messages(traces));
  EXPECT_TRUE(clocks[0].measured);
  EXPECT_TRUE(clocks[2].measured);
  EXPECT_FALSE(clocks[1].measured);
  EXPECT_EQ(clocks[1].common(500), 300);
  EXPECT_EQ(clocks[2].common(30), 30);
}

// Would catch: equal messages out of their order; refused posts that are paired; a receiver whose
// messages are paired with later ones, since the file of the sender no longer has theirs.
TEST(Messages, ArePairedInOrder) {
  std::vector<Trace> traces = {trace_of(0, "a", 0), trace_of(1, "a", 0)};
  for (const uint64_t at : {10, 20, 30}) add(traces[0], kShort, 1, 7, at);
  traces[0].records[1].status = CWY_RETRY;
  add(traces[1], CWYT_RECEIVED_SHORT, 0, 7, 15);
  add(traces[1], CWYT_RECEIVED_SHORT, 0, 7, 35);
  auto messages = match_messages(traces);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].sent, 0u);
  EXPECT_EQ(messages[1].sent, 2u);
  EXPECT_EQ(messages[1].received, 1u);
  traces[0].records.erase(traces[0].records.begin(), traces[0].records.begin() + 2);
  traces[0].lost = 1;
  messages = match_messages(traces);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].received, 1u);
}

// Threads of one rank whose equal messages stand in the file in another order than that of their
// times.
TEST(Messages, OfThreadsArePairedByTheirTimes) {
  std::vector<Trace> traces = {trace_of(0, "a", 0), trace_of(1, "a", 0)};
  for (const uint64_t at : {30, 10}) add(traces[0], kShort, 1, 7, at);
  for (const uint64_t at : {12, 33}) add(traces[1], CWYT_RECEIVED_SHORT, 0, 7, at);
  const auto messages = match_messages(traces);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].sent, 1u);
  EXPECT_EQ(messages[0].received, 0u);
}

}  // namespace
}  // namespace causeway::command
