// Local completion of medium and long messages: NOW, an event variable, and GROUP with the AM
// category. What they have in common: after local completion the source may be overwritten.
#include <atomic>
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

constexpr size_t kBytes = 4000;
constexpr unsigned kCount = 40;
std::atomic<unsigned> arrived{0}, wrong{0};

void on_payload(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  if (bytes == 0 || spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler payload_handler(&on_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, "completion");

size_t payload_bytes() {
  return std::min(kBytes, gex_AM_MaxRequestMedium(job().tm, job().peer(), GEX_EVENT_GROUP, 0, 1));
}
std::byte* landing(unsigned i) {
  return spec::segment_of(job().peer(),
                          (size_t{1} << 20) + (size_t{job().rank} * kCount + i) * kBytes);
}
int send(bool is_long, unsigned i, const void* source, gex_Event_t* option, gex_AM_Arg_t seed) {
  return is_long ? gex_AM_RequestLong1(job().tm, job().peer(), payload_handler, source,
                                       payload_bytes(), landing(i), option, 0, seed)
                 : gex_AM_RequestMedium1(job().tm, job().peer(), payload_handler, source,
                                         payload_bytes(), option, 0, seed);
}
void finish(unsigned expected) {
  GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == expected);
  spec::barrier();
  arrived.store(0, std::memory_order_relaxed);
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}

void now(bool is_long) {
  std::vector<char> source(kBytes);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(source.data(), payload_bytes(), i);
    CHECK_EQ(send(is_long, i, source.data(), GEX_EVENT_NOW, static_cast<gex_AM_Arg_t>(i)), 0);
    std::memset(source.data(), 0xEE, kBytes);
  }
  finish(kCount);
}

void event(bool is_long) {
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(kBytes));
  std::vector<gex_Event_t> events(kCount, GEX_EVENT_NO_OP);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(sources[i].data(), payload_bytes(), i + 100);
    CHECK_EQ(send(is_long, i, sources[i].data(), &events[i], static_cast<gex_AM_Arg_t>(i + 100)),
             0);
    CHECK(events[i] != GEX_EVENT_NO_OP);
  }
  for (unsigned i = kCount; i-- > 0;) {  // in another order than they were begun
    gex_Event_Wait(events[i]);
    std::memset(sources[i].data(), 0xEE, kBytes);
  }
  finish(kCount);
}

void group(bool is_long, bool by_test) {
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(kBytes));
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(sources[i].data(), payload_bytes(), i + 200);
    CHECK_EQ(
        send(is_long, i, sources[i].data(), GEX_EVENT_GROUP, static_cast<gex_AM_Arg_t>(i + 200)),
        0);
  }
  if (by_test)
    while (gex_NBI_Test(GEX_EC_AM, 0) != 0) gasnet_AMPoll();
  else
    gex_NBI_Wait(GEX_EC_AM, 0);
  for (auto& source : sources) std::memset(source.data(), 0xEE, kBytes);
  CHECK_EQ(gex_NBI_Test(GEX_EC_AM, 0), 0);
  finish(kCount);
}

void in_region(bool is_long) {
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(kBytes));
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < kCount; ++i) {
    spec::fill(sources[i].data(), payload_bytes(), i + 300);
    CHECK_EQ(
        send(is_long, i, sources[i].data(), GEX_EVENT_GROUP, static_cast<gex_AM_Arg_t>(i + 300)),
        0);
  }
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(region);
  for (auto& source : sources) std::memset(source.data(), 0xEE, kBytes);
  finish(kCount);
}

}  // namespace

// Each would catch a payload that is read after its local completion was announced.
SPEC_CASE(am_completion, medium_now) {
  now(false);
}
SPEC_CASE(am_completion, long_now) {
  now(true);
}
SPEC_CASE(am_completion, medium_event) {
  event(false);
}
SPEC_CASE(am_completion, long_event) {
  event(true);
}
SPEC_CASE(am_completion, medium_group) {
  group(false, false);
}
SPEC_CASE(am_completion, long_group) {
  group(true, false);
}
SPEC_CASE(am_completion, medium_group_by_test) {
  group(false, true);
}
SPEC_CASE(am_completion, long_group_by_test) {
  group(true, true);
}
SPEC_CASE(am_completion, medium_in_region) {
  in_region(false);
}
SPEC_CASE(am_completion, long_in_region) {
  in_region(true);
}

namespace {
// Replies with an event variable: it may not be synchronised inside the handler, so the waiting
// happens after the handler has returned.
struct PendingReply {
  std::vector<char> source;
  gex_Event_t event = GEX_EVENT_INVALID;
};
std::vector<PendingReply> pending;
std::atomic<unsigned> reply_count{0}, answered{0};
void on_reply(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  reply_count.fetch_add(1, std::memory_order_release);
}
spec::Handler reply_handler(&on_reply, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, "completion reply");
std::byte* reply_landing(gex_Rank_t at, unsigned i) {
  return spec::segment_of(at, (size_t{1} << 20) + i * kBytes);
}
void on_ask(gex_Token_t token, gex_AM_Arg_t i, gex_AM_Arg_t is_long) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  PendingReply& reply = pending[static_cast<unsigned>(i)];
  if (is_long)
    gex_AM_ReplyLong1(token, reply_handler, reply.source.data(), reply.source.size(),
                      reply_landing(info.gex_srcrank, static_cast<unsigned>(i)), &reply.event, 0,
                      i);
  else
    gex_AM_ReplyMedium1(token, reply_handler, reply.source.data(), reply.source.size(),
                        &reply.event, 0, i);
  answered.fetch_add(1, std::memory_order_release);
}
spec::Handler ask_handler(&on_ask, GEX_FLAG_AM_REQUEST, "completion ask");

void reply_events(bool is_long) {
  const size_t bytes =
      std::min(kBytes, gex_AM_MaxReplyMedium(job().tm, job().behind(), nullptr, 0, 1));
  pending.assign(kCount, {});
  for (unsigned i = 0; i < kCount; ++i) {
    pending[i].source.resize(bytes);
    spec::fill(pending[i].source.data(), bytes, i);
  }
  answered.store(0, std::memory_order_relaxed);
  reply_count.store(0, std::memory_order_relaxed);
  spec::barrier();
  for (unsigned i = 0; i < kCount; ++i)
    gex_AM_RequestShort2(job().tm, job().peer(), ask_handler, 0, static_cast<gex_AM_Arg_t>(i),
                         is_long);
  GASNET_BLOCKUNTIL(answered.load(std::memory_order_acquire) == kCount);
  for (PendingReply& reply : pending) {
    gex_Event_Wait(reply.event);
    std::memset(reply.source.data(), 0xEE, reply.source.size());
  }
  GASNET_BLOCKUNTIL(reply_count.load(std::memory_order_acquire) == kCount);
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}
}  // namespace

// In PAR the handlers may run on any thread and events belong to one; here one thread does both.
SPEC_CASE(am_completion, medium_reply_event) {
  reply_events(false);
}
SPEC_CASE(am_completion, long_reply_event) {
  reply_events(true);
}
