// What ends, and what is left of it: operations, registrations, rights, connections.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/growth.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// Catches writes to a cwyc_op that is the caller's again. Every case looks; this one has many.
void op_rests_after_its_last_bit() {
  Session s;
  std::vector<uint8_t> buffer(std::min<uint64_t>(70'000, s.ep().attr().rma_max), 1);
  for (uint32_t n = 0; n < 60; ++n) {
    const size_t size = n % 3 == 0 ? 8 : 1 + s.random.below(buffer.size() - 1);
    s.conn().put(buffer.data(), s.remote().base(), s.remote(), size);
    if (s.ops().get != nullptr)
      s.conn().get_data(buffer.data(), s.remote().base(), s.remote(), size);
    if (s.ops().am_medium != nullptr)
      s.conn().send_medium(n, nullptr, 0, buffer.data(),
                           std::min<size_t>(size, s.ep().attr().am_medium_max));
  }
  for (int i = 0; i < 300; ++i) s.ep().step();
  EXPECT_EQ(s.pool().disturbed(), "") << "written after the last bit was reported";
}

Nothing count_arrivals(Side& side, const Nothing&) {
  blackboard().slot[11].store(0);
  side.ep->on_request = [](const Message&) { blackboard().slot[11].fetch_add(1); };
  return {};
}

// Catches memory that stays with each right: the heap must not grow with their number.
void rkeys_leave_the_heap() {
  Session s;
  const auto cycle = [&] { RemoteMemory remote(s.ep(), s.side().peer, s.loopback()); };
  expect_no_growth("rkey_open/rkey_close", cycle, 100, 1000, 4);
}

// The same of connections to a peer that lives, and has seen each of them.
void connections_leave_the_heap() {
  Session s({.memory = 0, .connect = 0});
  s.call(count_arrivals, Nothing{});
  uint64_t sent = 0;
  const auto cycle = [&] {
    Connection conn(s.ep(), s.side().peer, s.loopback());
    conn.send(++sent, nullptr, 0);
    s.ep().until([&] { return blackboard().slot[11].load() >= sent; }, "a message");
  };
  expect_no_growth("connect/disconnect", cycle, 20, 100, 32);
}

// Catches reservations that leave something behind when they are cancelled.
void cancels_leave_the_heap() {
  Session s({.memory = 0});
  const auto cycle = [&] {
    cwyc_am_slot slot{};
    slot.head = CWY_HEAD(cwyc_am_slot);
    const auto prepare = [&] { return s.ops().am_prepare(s.raw(), 64, 512, 2, 0, &slot); };
    require_ok(s.ep().retry(prepare, "am_prepare"), "am_prepare");
    s.ops().am_cancel(s.raw(), &slot);
  };
  expect_no_growth("am_prepare/am_cancel", cycle, 100, 1000, 4);
}

// ---- memory that was given away ---------------------------------------------------------------

constexpr uint8_t kUntouched = 0x5c;
constexpr size_t kGiven = 64u << 10;

struct Lent {
  std::unique_ptr<Memory> memory;
  uint8_t* data = nullptr;
  bool mapped_anew = false;
} g_lent;
std::vector<uint8_t> g_clients_own;

Card lend(Side& side, const Memory::Source& source) {
  if (source == Memory::Source::alloc) {
    g_lent.memory = std::make_unique<Memory>(*side.domain, kGiven, source);
  } else {
    g_clients_own.resize(kGiven);
    g_lent.memory = std::make_unique<Memory>(*side.domain, g_clients_own.data(), kGiven);
  }
  g_lent.data = g_lent.memory->data();
  Card card = side.card;
  g_lent.memory->pack(card);
  return card;
}

// The memory is somebody else's from now on. Returns false where its place cannot be had.
bool take_back(Side&, const Nothing&) {
  const bool clients = g_lent.data == g_clients_own.data();
  g_lent.memory.reset();
  if (!clients) {
    g_lent.mapped_anew =
        mmap(g_lent.data, kGiven, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == g_lent.data;
    if (!g_lent.mapped_anew) return false;
  }
  std::memset(g_lent.data, kUntouched, kGiven);
  return true;
}

uint32_t touched(Side&, const Nothing&) {
  const auto n = std::count_if(g_lent.data, g_lent.data + kGiven,
                               [](uint8_t byte) { return byte != kUntouched; });
  if (g_lent.mapped_anew) munmap(g_lent.data, kGiven);
  g_lent.mapped_anew = false;
  return static_cast<uint32_t>(n);
}

// Puts that come too late fail at their origin, or are dropped: they do not arrive.
void released_memory(Memory::Source source) {
  Session s;
  const Card card = s.call(lend, source);
  {
    const RemoteMemory remote(s.ep(), card, s.loopback());
    std::vector<uint8_t> bytes(kGiven, 1);
    const size_t most = std::min<size_t>(kGiven, s.ep().attr().rma_max);
    s.conn().put(bytes.data(), remote.base(), remote,
                 std::min(most, size_t{4000}));  // it was within reach
    if (!s.call(take_back, Nothing{})) return;
    for (const size_t size : {size_t{8}, std::min(most, size_t{4000}), most}) {
      Op& op = s.pool().put("a put to released memory");
      const cwy_status status = s.ep().retry(
          [&] {
            return op.post([&](cwyc_op* raw) {
              return s.ops().put(s.raw(), bytes.data(), nullptr, remote.base(), remote.get(), size,
                                 0, raw);
            });
          },
          "put");
      if (status == CWY_INPROGRESS) s.ep().finish(op, "a put to released memory");
      if (op.status() == CWY_ERR_PEER_FAILED || status == CWY_ERR_PEER_FAILED) break;
    }
    for (int i = 0; i < 100; ++i) s.ep().step();
  }
  EXPECT_EQ(s.call(touched, Nothing{}), 0u) << "bytes were written to memory after mem_release";
  s.conn().purge();  // an endpoint may have been given up over it
}

void released_allocation_is_out_of_reach() {
  constexpr uint64_t either = CWYC_CAP_REACHES_RELEASED | CWYC_CAP_DIRECT;
  if ((world().attr.caps & either) == CWYC_CAP_REACHES_RELEASED)
    throw Skip{"allocations out of reach after mem_release (not under reaches_released)"};
  released_memory(Memory::Source::alloc);
}
void released_registration_is_out_of_reach() {
  released_memory(Memory::Source::registered);
}

// ---- messages and the end of a connection -------------------------------------------------------

// Catches messages that were accepted, and are forgotten with their connection: the peer has not
// looked, and so acknowledged nothing, when it ends.
void disconnect_keeps_what_was_accepted() {
  Session s({.memory = 0});
  s.call(count_arrivals, Nothing{});
  s.partner().hold();
  uint64_t sent = 0;
  while (sent < 100 && s.ops().am_short(s.raw(), sent, nullptr, 0, 0) == CWY_OK) ++sent;
  s.side().conn.reset();
  s.partner().resume();
  s.ep().until(
      [&] { return blackboard().slot[11].load() >= sent; },
      fmt::format("the arrival of {} messages that were accepted before disconnect", sent));
  EXPECT_EQ(blackboard().slot[11].load(), sent);
}

Nothing judge_mediums(Side& side, const Nothing&) {
  blackboard().slot[11].store(0);
  blackboard().slot[12].store(0);
  side.ep->on_request = [](const Message& m) {
    if (first_difference(m.payload, m.length, m.word) != m.length)
      blackboard().slot[12].fetch_add(1);
    blackboard().slot[11].fetch_add(1);
  };
  return {};
}

// The same of messages with payloads, which leave in parts: as many as the queue takes.
void disconnect_keeps_mediums() {
  Session s({.memory = 0});
  s.call(judge_mediums, Nothing{});
  s.partner().hold();
  std::vector<uint8_t> payload(std::min<uint64_t>(s.ep().attr().am_medium_max, 6000));
  const auto post = [&](uint64_t n) {
    fill_pattern(payload.data(), payload.size(), n);
    return s.pool().am("am_medium").post([&](cwyc_op* raw) {
      return s.ops().am_medium(s.raw(), n, nullptr, 0, payload.data(), nullptr, payload.size(),
                               CWYC_SRC_VOLATILE, raw);
    });
  };
  uint64_t sent = 0;
  while (sent < 500 && post(sent) == CWY_OK) ++sent;
  s.side().conn.reset();
  s.partner().resume();
  s.ep().until([&] { return blackboard().slot[11].load() >= sent; },
               fmt::format("the arrival of {} mediums that were accepted before disconnect", sent));
  EXPECT_EQ(blackboard().slot[11].load(), sent);
  EXPECT_EQ(blackboard().slot[12].load(), 0u) << "payloads changed on the way";
}

const Cases cases{
    {"Rma", "op_rests_after_its_last_bit", kPut | kMemory, op_rests_after_its_last_bit},
    {"Rma", "released_allocation_is_out_of_reach", kPut | kAlloc,
     released_allocation_is_out_of_reach},
    {"Rma", "released_registration_is_out_of_reach", kPut | kRegister | kRevoked,
     released_registration_is_out_of_reach},
    {"Cycles", "rkeys_leave_the_heap", kMemory, rkeys_leave_the_heap},
    {"Cycles", "cancels_leave_the_heap", kPrepare, cancels_leave_the_heap},
    {"Cycles", "connections_leave_the_heap", kShort, connections_leave_the_heap},
    {"Stage", "disconnect_keeps_what_was_accepted", kShort | kProcess,
     disconnect_keeps_what_was_accepted},
    {"Stage", "disconnect_keeps_mediums", kMedium | kProcess, disconnect_keeps_mediums},
};

}  // namespace
}  // namespace causeway::conformance
