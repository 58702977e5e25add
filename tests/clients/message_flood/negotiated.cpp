// Ping-pong and flood with negotiated payloads: the library's buffers, the client's, and long ones
// whose place is told at the end.
#include <cstdio>
#include <cstring>
#include <memory>

#include "flood.hpp"

namespace flood {
namespace {

gex_AM_Index_t ping, pong, push, push_long, pushed;

// The reply is built in the library's memory from what came; the seed of the bytes is one more.
void on_ping(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t high, gex_AM_Arg_t low,
             gex_AM_Arg_t seed) {
  auto* const from = static_cast<unsigned char*>(payload);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, bytes, bytes, nullptr, 0, 3);
  require(gex_AM_SrcDescSize(sd) >= bytes, "a reply's buffer is smaller than its least size");
  auto* const to = static_cast<unsigned char*>(gex_AM_SrcDescAddr(sd));
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<unsigned char>(from[i] + 1);
  gex_AM_CommitReplyMedium(sd, pong, bytes, high, low, seed + 1);
}
void on_pong(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t high, gex_AM_Arg_t low,
             gex_AM_Arg_t seed) {
  Counter& counter = Counter::at(high, low);
  unsigned char expected[64];
  fill(expected, sizeof expected, static_cast<unsigned>(seed));
  require(std::memcmp(payload, expected, bytes < 64 ? bytes : 64) == 0, "a pong's bytes differ");
  counter.sums.fetch_add(sum(payload, bytes), std::memory_order_relaxed);
  counter.count.fetch_add(1, std::memory_order_release);
}

// Floods are answered with the sum of what came.
void on_push(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  gex_AM_ReplyShort(token, pushed, 0, high, low, static_cast<gex_AM_Arg_t>(sum(payload, bytes)));
}
void on_pushed(gex_Token_t, gex_AM_Arg_t high, gex_AM_Arg_t low, gex_AM_Arg_t sums) {
  Counter& counter = Counter::at(high, low);
  counter.sums.fetch_add(static_cast<unsigned>(sums), std::memory_order_relaxed);
  counter.count.fetch_add(1, std::memory_order_release);
}

}  // namespace

void negotiated_load() {
  const gex_Flags_t request = GEX_FLAG_AM_REQUEST, reply = GEX_FLAG_AM_REPLY;
  ping = add(on_ping, GEX_FLAG_AM_MEDIUM | request, 3);
  pong = add(on_pong, GEX_FLAG_AM_MEDIUM | reply, 3);
  push = add(on_push, GEX_FLAG_AM_MEDIUM | request, 2);
  push_long = add(on_push, GEX_FLAG_AM_LONG | request, 2);
  pushed = add(on_pushed, GEX_FLAG_AM_SHORT | reply, 3);
}

void negotiated_ping_pong(int thread) {
  const gex_Rank_t peer = (me + 1) % ranks;
  const size_t request = gex_AM_MaxRequestMedium(team, peer, nullptr, 0, 3);
  const size_t reply = gex_AM_MaxReplyMedium(team, peer, nullptr, 0, 3);
  const size_t most = request < reply ? request : reply;
  for (size_t bytes = 1; bytes <= most && bytes <= kBytes; bytes *= 8) {
    constexpr unsigned kRounds = 10;
    Counter counter;
    const gasnett_tick_t begin = gasnett_ticks_now();
    for (unsigned round = 1; round <= kRounds; ++round) {
      gex_AM_SrcDesc_t sd =
          gex_AM_PrepareRequestMedium(team, peer, nullptr, bytes, most, nullptr, 0, 3);
      require(gex_AM_SrcDescSize(sd) >= bytes, "a buffer is smaller than its least size");
      require(gex_AM_SrcDescSize(sd) <= most, "a buffer is larger than its most size");
      fill(gex_AM_SrcDescAddr(sd), bytes, round);
      gex_AM_CommitRequestMedium(sd, ping, bytes, counter.high(), counter.low(),
                                 static_cast<gex_AM_Arg_t>(round));
      counter.wait(round);
    }
    const double us = gasnett_ticks_to_ns(gasnett_ticks_now() - begin) / 2e3 / kRounds;
    if (me == 0 && thread == 0) std::printf("%8zu bytes: %8.2f us one way\n", bytes, us);
  }
}

namespace {

// Refused at once where there is no room: then it polls, and tries again.
gex_AM_SrcDesc_t prepare_without_waiting(gex_Rank_t peer, const void* source, size_t bytes,
                                         gex_Event_t* local) {
  for (;;) {
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(team, peer, source, bytes, bytes, local, GEX_FLAG_IMMEDIATE, 2);
    if (sd != GEX_AM_SRCDESC_NO_OP) return sd;
    gasnet_AMPoll();
  }
}

}  // namespace

void negotiated_flood(int thread) {
  constexpr unsigned kMessages = 60;
  constexpr size_t kMost = 400;
  const auto source = std::make_unique<unsigned char[]>(kMessages * kMost);
  Counter counter;
  gex_Event_t locals[kMessages];
  unsigned expected = 0;
  for (unsigned i = 0; i < kMessages; ++i) {
    const gex_Rank_t peer = (me + i) % ranks;
    unsigned char* const bytes = &source[i * kMost];
    const size_t length = 1 + i * 37 % kMost;
    fill(bytes, length, i);
    expected += sum(bytes, length);
    locals[i] = GEX_EVENT_INVALID;
    if (i % 3 == 0) {
      gex_AM_SrcDesc_t sd = prepare_without_waiting(peer, bytes, length, &locals[i]);
      require(gex_AM_SrcDescAddr(sd) == bytes, "the client's buffer is another");
#ifdef GASNET_SUPPORTS_AM_COMMIT_V2
      while (gex_AM_CommitRequestMedium_v2(sd, push, length, GEX_FLAG_IMMEDIATE, counter.high(),
                                           counter.low()) != 0) {
      }
#else
      gex_AM_CommitRequestMedium(sd, push, length, counter.high(), counter.low());
#endif
    } else if (i % 3 == 1) {
      gex_AM_SrcDesc_t sd =
          gex_AM_PrepareRequestLong(team, peer, bytes, length, length, nullptr, &locals[i], 0, 2);
      gex_AM_CommitRequestLong(sd, push_long, length, window(peer, me, thread) + (i / 3) * kMost,
                               counter.high(), counter.low());
    } else {
      gex_AM_SrcDesc_t sd =
          gex_AM_PrepareRequestMedium(team, peer, nullptr, 1, kMost, nullptr, 0, 2);
      const size_t room = gex_AM_SrcDescSize(sd), part = length < room ? length : room;
      expected -= sum(bytes, length) - sum(bytes, part);
      std::memcpy(gex_AM_SrcDescAddr(sd), bytes, part);
      gex_AM_CommitRequestMedium(sd, push, part, counter.high(), counter.low());
    }
  }
  gex_Event_WaitAll(locals, kMessages, 0);
  counter.wait(kMessages);
  require(counter.sums == expected, "what arrived has another sum");
}

}  // namespace flood
