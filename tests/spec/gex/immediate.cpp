// GEX_FLAG_IMMEDIATE: a call either happens completely or says that nothing happened.
#include <atomic>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

std::atomic<unsigned> arrived{0}, wrong{0}, announced{0}, announcements{0};
void on_message(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler message(&on_message, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, "immediate");
void on_short(gex_Token_t) {
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler short_message(&on_short, GEX_FLAG_AM_REQUEST, "immediate short");
void on_announce(gex_Token_t, gex_AM_Arg_t count) {
  announced.fetch_add(static_cast<unsigned>(count), std::memory_order_relaxed);
  announcements.fetch_add(1, std::memory_order_release);
}
spec::Handler announce(&on_announce, GEX_FLAG_AM_REQUEST, "immediate announce");

// The peer learns how many were accepted, and exactly that many must arrive.
template <typename Send>
void flood(Send send) {
  constexpr unsigned kTries = 20000;
  arrived.store(0, std::memory_order_relaxed);
  announced.store(0, std::memory_order_relaxed);
  announcements.store(0, std::memory_order_relaxed);
  spec::barrier();
  unsigned accepted = 0;
  // No polling in between: queues fill up and calls must begin to say so rather than block.
  for (unsigned i = 0; i < spec::scaled(kTries, 200); ++i) accepted += send(i) == 0;
  CHECK(accepted > 0);
  gex_AM_RequestShort1(job().tm, job().peer(), announce, 0, static_cast<gex_AM_Arg_t>(accepted));
  GASNET_BLOCKUNTIL(announcements.load(std::memory_order_acquire) == 1 &&
                    arrived.load(std::memory_order_acquire) >=
                        announced.load(std::memory_order_relaxed));
  spec::barrier();
  gasnet_AMPoll();
  CHECK_EQ(arrived.load(std::memory_order_acquire), announced.load(std::memory_order_relaxed));
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}

std::byte* place(size_t offset = 0) {
  return spec::segment_of(job().peer(), (size_t{1} << 20) + size_t{job().rank} * 65536 + offset);
}

// Repeats an immediate operation with progress in between; gives up and does it plainly after a
// while, since the specification promises no success.
template <typename Try, typename Plain>
void eventually(Try attempt, Plain plain) {
  for (unsigned i = 0; i < 1000; ++i) {
    if (attempt()) return;
    gasnet_AMPoll();
  }
  plain();
}

}  // namespace

SPEC_CASE(immediate, short_requests) {
  flood([](unsigned) {
    return gex_AM_RequestShort0(job().tm, job().peer(), short_message, GEX_FLAG_IMMEDIATE);
  });
}

SPEC_CASE(immediate, medium_requests) {
  char data[400];
  flood([&](unsigned i) {
    spec::fill(data, sizeof data, i);
    return gex_AM_RequestMedium1(job().tm, job().peer(), message, data, sizeof data, GEX_EVENT_NOW,
                                 GEX_FLAG_IMMEDIATE, static_cast<gex_AM_Arg_t>(i));
  });
}

SPEC_CASE(immediate, long_requests) {
  char data[64];
  spec::fill(data, sizeof data, 5);
  flood([&](unsigned i) {
    // All carry the same bytes to the same 64 places, so none can spoil another.
    return gex_AM_RequestLong1(job().tm, job().peer(), message, data, sizeof data,
                               place(i % 64 * 64), GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, 5);
  });
}

SPEC_CASE(immediate, rma) {
  std::vector<char> data(5000), got(5000);
  for (unsigned round = 0; round < 50; ++round) {
    spec::fill(data.data(), data.size(), round);
    const auto n = data.size();
    switch (round % 3) {
      case 0:
        eventually(
            [&] {
              const gex_Event_t event = gex_RMA_PutNB(job().tm, job().peer(), place(), data.data(),
                                                      n, GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE);
              if (event == GEX_EVENT_NO_OP) return false;
              gex_Event_Wait(event);
              return true;
            },
            [&] { gex_RMA_PutBlocking(job().tm, job().peer(), place(), data.data(), n, 0); });
        eventually(
            [&] {
              const gex_Event_t event =
                  gex_RMA_GetNB(job().tm, got.data(), job().peer(), place(), n, GEX_FLAG_IMMEDIATE);
              if (event == GEX_EVENT_NO_OP) return false;
              gex_Event_Wait(event);
              return true;
            },
            [&] { gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(), n, 0); });
        break;
      case 1:
        eventually(
            [&] {
              return gex_RMA_PutNBI(job().tm, job().peer(), place(), data.data(), n,
                                    GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE) == 0;
            },
            [&] { gex_RMA_PutBlocking(job().tm, job().peer(), place(), data.data(), n, 0); });
        gex_NBI_Wait(GEX_EC_PUT, 0);
        eventually(
            [&] {
              return gex_RMA_GetNBI(job().tm, got.data(), job().peer(), place(), n,
                                    GEX_FLAG_IMMEDIATE) == 0;
            },
            [&] { gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(), n, 0); });
        gex_NBI_Wait(GEX_EC_GET, 0);
        break;
      case 2:
        eventually(
            [&] {
              return gex_RMA_PutBlocking(job().tm, job().peer(), place(), data.data(), n,
                                         GEX_FLAG_IMMEDIATE) == 0;
            },
            [&] { gex_RMA_PutBlocking(job().tm, job().peer(), place(), data.data(), n, 0); });
        eventually(
            [&] {
              return gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(), n,
                                         GEX_FLAG_IMMEDIATE) == 0;
            },
            [&] { gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(), n, 0); });
        break;
    }
    CHECK_PATTERN(got.data(), got.size(), round);
  }
  spec::barrier();
}

// Many outstanding without progress: refused ones have done nothing, accepted ones everything.
SPEC_CASE(immediate, rma_flood) {
  constexpr unsigned kSlots = 8000;
  const std::vector<uint64_t> zeros(kSlots);
  gex_RMA_PutBlocking(job().tm, job().peer(), place(), zeros.data(), kSlots * 8, 0);
  std::vector<uint64_t> values(kSlots), got(kSlots);
  std::vector<gex_Event_t> events(kSlots);
  for (unsigned i = 0; i < kSlots; ++i) {
    values[i] = 0x1111111111111111u * (i % 15 + 1);
    events[i] = gex_RMA_PutNB(job().tm, job().peer(), place(size_t{i} * 8), &values[i], 8,
                              GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE);
  }
  for (unsigned i = 0; i < kSlots; ++i) {
    if (events[i] == GEX_EVENT_NO_OP)
      values[i] = 0;
    else
      gex_Event_Wait(events[i]);
  }
  gex_RMA_GetBlocking(job().tm, got.data(), job().peer(), place(), kSlots * 8, 0);
  CHECK(got == values);
  spec::barrier();
}

// Replies may be immediate too; a refused one can still be sent plainly in the same handler.
namespace {
std::atomic<unsigned> replied{0};
void on_reply(gex_Token_t) {
  replied.fetch_add(1, std::memory_order_release);
}
spec::Handler reply(&on_reply, GEX_FLAG_AM_REPLY, "immediate reply");
void on_ask(gex_Token_t token) {
  if (gex_AM_ReplyShort0(token, reply, GEX_FLAG_IMMEDIATE) != 0)
    gex_AM_ReplyShort0(token, reply, 0);
}
spec::Handler ask(&on_ask, GEX_FLAG_AM_REQUEST, "immediate ask");
}  // namespace

SPEC_CASE(immediate, replies) {
  const unsigned count = spec::scaled(4000, 100);
  replied.store(0, std::memory_order_relaxed);
  for (unsigned i = 0; i < count; ++i) gex_AM_RequestShort0(job().tm, job().peer(), ask, 0);
  GASNET_BLOCKUNTIL(replied.load(std::memory_order_acquire) >= count);
  spec::barrier();
  gasnet_AMPoll();
  CHECK_EQ(replied.load(std::memory_order_acquire), count);
}
