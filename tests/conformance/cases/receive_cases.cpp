// Payloads at their receiver: how they lie, where they are placed, and which it may keep.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// What the receiver saw; the sender asks for it.
struct Report {
  uint64_t messages = 0, wrong = 0;
  uint64_t special = 0;  // that were kept, or placed
  char first_wrong[300] = {};

  void complain(const std::string& text) {
    if (wrong++ == 0) fmt::format_to_n(first_wrong, sizeof first_wrong - 1, "{}", text);
  }
};
Report g_report;

Report look(Side&, const Nothing&) {
  return g_report;
}

// Waits until the receiver has seen so many, and says what it saw.
Report await(Session& s, uint64_t messages) {
  const Deadline deadline(fmt::format("{} messages", messages), 60);
  for (;;) {
    const Report seen = s.call(look, Nothing{});
    EXPECT_EQ(seen.wrong, 0u) << "first: " << seen.first_wrong;
    if (seen.messages >= messages || seen.wrong != 0) return seen;
    deadline.check();
    s.ep().step();
  }
}

// ---- alignment ------------------------------------------------------------------------------

void check_alignment(const Message& m, Report& report) {
  ++report.messages;
  const uintptr_t beyond = reinterpret_cast<uintptr_t>(m.payload) % 16;
  if (m.length != 0 && beyond != 0)
    report.complain(
        fmt::format("a payload of {} bytes beside {} arguments is {} bytes beyond a "
                    "multiple of 16",
                    m.length, m.nargs, beyond));
}

// The same payload and arguments back, by the other lane.
void echo(Side& side, const Message& m) {
  Op& op = side.conn->ops_pool().am("reply");
  const Deadline deadline("room for a reply");
  for (;;) {
    const cwy_status status = op.post([&](cwyc_op* raw) {
      return side.conn->ops().am_medium(side.conn->get(), m.word | kReplyBit, m.args, m.nargs,
                                        m.payload, nullptr, m.length,
                                        CWYC_LANE_REPLY | CWYC_SRC_VOLATILE, raw);
    });
    if (!is_error(status)) return;
    if (status != CWY_RETRY) throw Error(status, "reply answered {}", status_name(status));
    side.ep->progress(64, CWYC_PROGRESS_REPLIES);
    deadline.check();
  }
}

// Progress of the reply lane inside the upcall, so that requests which have come must wait.
Nothing check_and_echo(Side& side, const Nothing&) {
  g_report = {};
  side.ep->on_request = [&side](const Message& m) {
    check_alignment(m, g_report);
    if (g_report.messages % 3 == 0) side.ep->progress(64, CWYC_PROGRESS_REPLIES);
    echo(side, m);
  };
  return {};
}

void send_prepared(Session& s, const int32_t* args, uint32_t nargs, const uint8_t* payload,
                   size_t size) {
  cwyc_am_slot slot{};
  slot.head = CWY_HEAD(cwyc_am_slot);
  const cwy_status status = s.ep().retry(
      [&] { return s.ops().am_prepare(s.raw(), size, size, nargs, 0, &slot); }, "am_prepare");
  ASSERT_EQ(status, CWY_OK) << status_name(status);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(slot.buffer) % 16, 0u)
      << "the buffer for " << size << " bytes beside " << nargs << " arguments";
  std::copy_n(payload, size, static_cast<uint8_t*>(slot.buffer));
  s.ops().am_commit(s.raw(), &slot, 1, args, nargs, size);
}

// Catches payloads that arrive where the header before them happens to end: an odd number of
// arguments, the end of another message; in requests and replies of every size, prepared or not,
// and in those that wait while replies are delivered.
void medium_arrives_aligned() {
  Session s({.memory = 0});
  Report replies;
  s.call(check_and_echo, Nothing{});
  s.ep().on_reply = [&](const Message& m) { check_alignment(m, replies); };
  const size_t most = std::min<size_t>(s.ep().attr().am_medium_max, 64 << 10);
  const std::vector<uint8_t> payload(most, 1);
  const std::array<int32_t, CWYC_AM_MAX_ARGS> args{};
  const bool prepares = s.ep().usable_ops().am_prepare != nullptr;
  uint64_t sent = 0;
  for (uint32_t nargs = 0; nargs <= CWYC_AM_MAX_ARGS; ++nargs) {
    for (size_t size = 1; size <= most; size += 1 + size / 3, ++sent) {
      if (prepares && sent % 3 == 0) {
        send_prepared(s, args.data(), nargs, payload.data(), size);
      } else {
        s.conn().send_medium(1, args.data(), nargs, payload.data(), size);
      }
    }
  }
  await(s, sent);
  s.ep().until([&] { return replies.messages >= sent; }, "all replies", 60);
  EXPECT_EQ(replies.wrong, 0u) << "of the replies, first: " << replies.first_wrong;
}

// ---- payloads that stay with the receiver ---------------------------------------------------

struct Kept {
  void* name;
  uint8_t* payload;
  size_t length;
  uint64_t key;
};
std::deque<Kept> g_kept;

// Takes one of those kept, oldest or newest by turns; by a thread that is in no call of the
// conduit's.
void give_back(const Side& side) {
  const bool oldest = g_kept.size() % 2 == 0;
  const Kept k = oldest ? g_kept.front() : g_kept.back();
  oldest ? g_kept.pop_front() : g_kept.pop_back();
  if (first_difference(k.payload, k.length, k.key) != k.length)
    g_report.complain(fmt::format("payload {} changed while it was kept", k.key));
  std::fill_n(k.payload, k.length, 0xee);
  std::thread([&] { side.ep->module().am_release(side.ep->get(), k.name); }).join();
}

void keep(const Side& side, const Message& m) {
  const auto key = static_cast<uint64_t>(m.args[0]);
  cwyc_ep* const ep = side.ep->get();
  Kept k{nullptr, m.payload, m.length, key};
  uint64_t elsewhere[4] = {};
  if (side.ep->module().am_retain(ep, elsewhere, &k.name) == CWY_OK)
    g_report.complain("memory that is no payload may be kept");
  if (side.ep->module().am_retain(ep, m.payload, &k.name) != CWY_OK) return;
  ++g_report.special;
  g_kept.push_back(k);
}

// At most so many are kept at a time.
Nothing keep_mediums(Side& side, const uint32_t& at_once) {
  g_report = {};
  side.ep->on_request = [&side, at_once](const Message& m) {
    ++g_report.messages;
    if (m.nargs != 1) return g_report.complain(fmt::format("{} arguments arrived", m.nargs));
    if (first_difference(m.payload, m.length, static_cast<uint64_t>(m.args[0])) != m.length)
      g_report.complain(fmt::format("payload {} is not what was sent", m.args[0]));
    keep(side, m);
    while (g_kept.size() > at_once) give_back(side);
  };
  return {};
}

Nothing give_all_back(Side& side, const Nothing&) {
  while (!g_kept.empty()) give_back(side);
  return {};
}

void send_patterns(Session& s, size_t size) {
  std::vector<uint8_t> payload(size);
  for (int32_t key = 0; key < 500; ++key) {
    fill_pattern(payload.data(), size, static_cast<uint64_t>(key));
    s.conn().send_medium(1, &key, 1, payload.data(), size, CWYC_SRC_VOLATILE);
  }
}

// Catches a payload that is written over while it is kept, memory that goes back to the network
// before it is released, and a receiver that keeps so much that its peers have no room left.
void medium_kept() {
  Session s({.memory = 0});
  const size_t most = std::min<size_t>(s.ep().attr().am_medium_max, 16 << 10);
  uint64_t kept = 0;
  for (const uint32_t at_once : {8u, 1000u}) {
    for (const size_t size : {size_t{64}, size_t{400}, most}) {
      s.call(keep_mediums, at_once);
      send_patterns(s, size);
      kept += await(s, 500).special;
      s.call(give_all_back, Nothing{});
      const Report after = s.call(look, Nothing{});
      ASSERT_EQ(after.wrong, 0u) << "first: " << after.first_wrong;
    }
  }
  if (kept == 0) throw Skip{"am_retain"};
}

// ---- payloads that the receiver places ------------------------------------------------------

std::map<uint64_t, std::vector<uint8_t>> g_places;  // by key
std::set<uint64_t> g_asked;
cwy_peer g_sender;

void* choose_place(const cwyc_arrival& a) {
  if (a.nargs != 1) {
    g_report.complain(fmt::format("{} arguments of a payload to be placed", a.nargs));
    return nullptr;
  }
  const auto key = static_cast<uint64_t>(a.args[0]);
  if (a.word != key + 1 || a.length != 1 + key * 97 % (key + 1000))
    g_report.complain(fmt::format("word {} and {} bytes of payload {}", a.word, a.length, key));
  if (a.from.rank != g_sender.rank || a.from.epoch != g_sender.epoch)
    g_report.complain(fmt::format("the place of payload {} is asked for rank {}, epoch {}", key,
                                  a.from.rank, a.from.epoch));
  if (!g_asked.insert(key).second)
    g_report.complain(fmt::format("the place of payload {} is asked for again", key));
  if (key % 4 == 0) return nullptr;
  ++g_report.special;
  return (g_places[key] = std::vector<uint8_t>(a.length)).data();
}

Nothing place_mediums(Side& side, const cwy_peer& sender) {
  g_report = {};
  g_sender = sender;
  g_asked.clear();
  g_places.clear();
  side.ep->on_place = choose_place;
  side.ep->on_request = [](const Message& m) {
    ++g_report.messages;
    const auto key = static_cast<uint64_t>(m.nargs == 1 ? m.args[0] : 0);
    const auto place = g_places.find(key);
    if (place != g_places.end() && place->second.data() != m.payload)
      g_report.complain(fmt::format("payload {} is delivered beside its place", key));
    if (first_difference(m.payload, m.length, key) != m.length)
      g_report.complain(fmt::format("payload {} is not what was sent", key));
  };
  return {};
}

// Catches a payload that goes elsewhere than it was told to, or in part, a payload whose message is
// delivered before it is there, and a place that is asked for twice or for another sender.
void medium_placed() {
  Session s({.memory = 0});
  s.call(place_mediums, s.side().card.peer);
  std::vector<uint8_t> payload(s.ep().attr().am_medium_max);
  uint64_t sent = 0;
  for (uint64_t key = 1; sent < 400; key += 1 + key / 64) {
    const size_t size = 1 + key * 97 % (key + 1000);
    if (size > payload.size()) break;
    fill_pattern(payload.data(), size, key);
    const auto arg = static_cast<int32_t>(key);
    s.conn().send_medium(key + 1, &arg, 1, payload.data(), size);
    ++sent;
  }
  if (await(s, sent).special == 0) throw Skip{"payloads whose place is asked for"};
}

const Cases cases{
    {"Am", "medium_arrives_aligned", kMedium, medium_arrives_aligned},
    {"Am", "medium_kept_by_the_receiver", kMedium, medium_kept},
    {"Am", "medium_placed_by_the_receiver", kMedium, medium_placed},
};

}  // namespace
}  // namespace causeway::conformance
