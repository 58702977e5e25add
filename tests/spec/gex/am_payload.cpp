// Payloads of medium and long messages: every size class up to the limits, as requests and as
// replies; where they arrive and what the handler is told.
#include <atomic>
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

constexpr size_t kLandingOffset = size_t{1} << 20;
constexpr size_t kLandingBytes = size_t{4} << 20;

std::atomic<unsigned> replies{0};
std::atomic<unsigned> wrong{0};
std::byte* reply_landing(gex_Rank_t rank) {
  return spec::segment_of(rank, kLandingOffset + kLandingBytes);
}

// arg: seed. The buffer of a medium is aligned for any type; a long's is where it was sent to.
void check_payload(gex_Token_t token, void* buffer, size_t bytes, uint32_t seed, bool is_long,
                   const std::byte* expected_at) {
  (void)token;
  bool good = spec::first_difference(buffer, bytes, seed) == bytes;
  if (is_long)
    good = good && buffer == expected_at;
  else if (bytes > 0)
    good = good && reinterpret_cast<uintptr_t>(buffer) % alignof(std::max_align_t) == 0;
  if (!good) wrong.fetch_add(1, std::memory_order_relaxed);
}

void on_medium_reply(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  check_payload(token, buffer, bytes, static_cast<uint32_t>(seed), false, nullptr);
  replies.fetch_add(1, std::memory_order_release);
}
void on_long_reply(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t seed,
                   gex_AM_Arg_t offset) {
  check_payload(token, buffer, bytes, static_cast<uint32_t>(seed), true,
                reply_landing(job().rank) + offset);
  replies.fetch_add(1, std::memory_order_release);
}
spec::Handler medium_reply(&on_medium_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY,
                           "medium reply");
spec::Handler long_reply(&on_long_reply, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, "long reply");

// The reply carries back what came, so the whole way there and back is checked.
void on_medium(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  check_payload(token, buffer, bytes, static_cast<uint32_t>(seed), false, nullptr);
  const size_t most = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 1);
  gex_AM_ReplyMedium1(token, medium_reply, buffer, bytes < most ? bytes : most, GEX_EVENT_NOW, 0,
                      seed);
}
void on_long(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t seed,
             gex_AM_Arg_t offset) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  check_payload(token, buffer, bytes, static_cast<uint32_t>(seed), true,
                spec::my_segment(kLandingOffset) + offset);
  const size_t most = gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 2);
  gex_AM_ReplyLong2(token, long_reply, buffer, bytes < most ? bytes : most,
                    reply_landing(info.gex_srcrank) + offset, GEX_EVENT_NOW, 0, seed, offset);
}
spec::Handler medium_request(&on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, "medium");
spec::Handler long_request(&on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, "long");

std::vector<size_t> sizes_up_to(size_t limit) {
  std::vector<size_t> sizes;
  for (size_t n = 0; n <= 17 && n <= limit; ++n) sizes.push_back(n);
  for (size_t power = 32; power <= limit; power *= 2)
    for (size_t n : {power - 1, power, power + 1})
      if (n <= limit) sizes.push_back(n);
  sizes.push_back(limit - 1);
  sizes.push_back(limit);
  return sizes;
}

// Ranks take turns as senders where they would land on the same memory.
template <typename Body>
void in_turns(Body body) {
  for (gex_Rank_t turn = 0; turn < job().size; ++turn) {
    if (turn == job().rank) body();
    spec::barrier();
  }
}

std::atomic<unsigned> empty_longs{0};
std::atomic<uintptr_t> empty_long_at{0};
void on_empty_long_reply(gex_Token_t, void* buffer, size_t bytes) {
  if (bytes != 0 || reinterpret_cast<uintptr_t>(buffer) != 0xABCDE)
    wrong.fetch_add(1, std::memory_order_relaxed);
  empty_longs.fetch_add(1, std::memory_order_release);
}
spec::Handler empty_long_reply(&on_empty_long_reply, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY,
                               "empty long reply");
void on_empty_long(gex_Token_t token, void* buffer, size_t bytes) {
  if (bytes != 0) wrong.fetch_add(1, std::memory_order_relaxed);
  empty_long_at.store(reinterpret_cast<uintptr_t>(buffer), std::memory_order_relaxed);
  gex_AM_ReplyLong0(token, empty_long_reply, nullptr, 0, reinterpret_cast<void*>(0xABCDE),
                    GEX_EVENT_NOW, 0);
}
spec::Handler empty_long(&on_empty_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, "empty long");

}  // namespace

// Would catch sizes at which a fragment, an inline copy or a length field goes wrong.
SPEC_CASE(am_payload, medium_sizes) {
  for (gex_Rank_t target : {job().rank, job().peer()}) {
    const size_t most = gex_AM_MaxRequestMedium(job().tm, target, GEX_EVENT_NOW, 0, 1);
    std::vector<char> source(most);
    for (size_t bytes : sizes_up_to(most)) {
      const auto seed = static_cast<uint32_t>(bytes * 31 + job().rank);
      spec::fill(source.data(), bytes, seed);
      replies.store(0, std::memory_order_relaxed);
      CHECK_EQ(gex_AM_RequestMedium1(job().tm, target, medium_request, source.data(), bytes,
                                     GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(seed)),
               0);
      GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 1);
    }
    spec::barrier();
  }
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

SPEC_CASE(am_payload, long_sizes) {
  in_turns([] {
    for (gex_Rank_t target : {job().rank, job().peer()}) {
      size_t most = gex_AM_MaxRequestLong(job().tm, target, GEX_EVENT_NOW, 0, 2);
      most = std::min(most, kLandingBytes - 16);
      if (job().size > 7) most = std::min(most, size_t{65536});
      std::vector<char> source(most);
      for (size_t bytes : sizes_up_to(most)) {
        const auto seed = static_cast<uint32_t>(bytes * 37 + job().rank);
        const auto offset = static_cast<gex_AM_Arg_t>(bytes % 16);  // destinations of any alignment
        spec::fill(source.data(), bytes, seed);
        std::memset(reply_landing(job().rank), 0, std::min(bytes + 16, size_t{256}));
        replies.store(0, std::memory_order_relaxed);
        CHECK_EQ(gex_AM_RequestLong2(job().tm, target, long_request, source.data(), bytes,
                                     spec::segment_of(target, kLandingOffset) + offset,
                                     GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(seed), offset),
                 0);
        GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 1);
      }
    }
  });
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

// A long writes its bytes and not one more.
SPEC_CASE(am_payload, long_stays_within_bounds) {
  in_turns([] {
    const gex_Rank_t target = job().peer();
    constexpr size_t kBytes = 1000, kGuard = 64;
    std::vector<char> area(kBytes + 2 * kGuard), source(kBytes);
    std::byte* const at = spec::segment_of(target, kLandingOffset);
    spec::fill(area.data(), area.size(), 5);
    gex_RMA_PutBlocking(job().tm, target, at, area.data(), area.size(), 0);
    spec::fill(source.data(), kBytes, 6);
    replies.store(0, std::memory_order_relaxed);
    CHECK_EQ(gex_AM_RequestLong2(job().tm, target, long_request, source.data(), kBytes, at + kGuard,
                                 GEX_EVENT_NOW, 0, 6, kGuard),
             0);
    GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 1);
    std::vector<char> got(area.size()), expected(area);
    spec::fill(expected.data() + kGuard, kBytes, 6);
    gex_RMA_GetBlocking(job().tm, got.data(), target, at, got.size(), 0);
    CHECK(got == expected);
  });
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

// The address is passed on as given when there is no payload, and needs no segment.
SPEC_CASE(am_payload, empty_long, 1, spec::Phase::unattached) {
  for (gex_Rank_t target : {job().rank, job().peer()}) {
    empty_longs.store(0, std::memory_order_relaxed);
    spec::barrier();
    CHECK_EQ(gex_AM_RequestLong0(job().tm, target, empty_long, nullptr, 0,
                                 reinterpret_cast<void*>(0x12345), GEX_EVENT_NOW, 0),
             0);
    GASNET_BLOCKUNTIL(empty_longs.load(std::memory_order_acquire) == 1);
    spec::barrier();
    CHECK_EQ(empty_long_at.load(std::memory_order_relaxed), uintptr_t{0x12345});
  }
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

// Medium messages need no segment either, and an empty one ignores its source.
SPEC_CASE(am_payload, medium_before_attach, 1, spec::Phase::unattached) {
  char source[300];
  spec::fill(source, sizeof source, 3);
  replies.store(0, std::memory_order_relaxed);
  CHECK_EQ(gex_AM_RequestMedium1(job().tm, job().peer(), medium_request, source, sizeof source,
                                 GEX_EVENT_NOW, 0, 3),
           0);
  CHECK_EQ(gex_AM_RequestMedium1(job().tm, job().peer(), medium_request, nullptr, 0, GEX_EVENT_NOW,
                                 0, 3),
           0);
  GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 2);
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}
