// Negotiated payloads: what Prepare may answer, what Commit sends, requests and replies, mediums
// and longs, buffers of the client's and of the library's. Argument counts and spellings are in
// am_arguments.cpp, back-pressure in am_backpressure.cpp.
#include <atomic>
#include <cstring>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

std::atomic<unsigned> arrived{0}, wrong{0};
// Longs carry the place they were sent to, as an offset into the segment; -1 for mediums.
void check_arrival(void* buffer, size_t bytes, gex_AM_Arg_t seed, gex_AM_Arg_t length,
                   gex_AM_Arg_t offset) {
  bool good = std::cmp_equal(bytes, length) &&
              spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) == bytes;
  if (offset >= 0)
    good = good && buffer == spec::my_segment(static_cast<size_t>(offset));
  else if (bytes > 0)
    good = good && reinterpret_cast<uintptr_t>(buffer) % alignof(std::max_align_t) == 0;
  if (!good) wrong.fetch_add(1, std::memory_order_relaxed);
}
void on_message(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t seed, gex_AM_Arg_t length,
                gex_AM_Arg_t offset) {
  check_arrival(buffer, bytes, seed, length, offset);
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler message(&on_message, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP, "negotiated");

void await(unsigned count) {
  GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) >= count);
  spec::barrier();
  gasnet_AMPoll();
  CHECK_EQ(arrived.exchange(0, std::memory_order_relaxed), count);
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}

// A window of landing places for each sender.
constexpr size_t kPlace = 65536;
constexpr unsigned kPlaces = 8;
size_t place(unsigned i) {
  return (size_t{1} << 20) + (size_t{job().rank % 4} * kPlaces + i % kPlaces) * kPlace;
}

uint32_t next_random(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

enum class Buffer { library, client };
enum class Dest { at_prepare, at_commit, as_offset };

// Everything a Prepare promises about its answer.
void check_answer(gex_AM_SrcDesc_t sd, const void* client_buf, size_t least, size_t most) {
  if (!CHECK(sd != GEX_AM_SRCDESC_NO_OP)) return;
  CHECK(gex_AM_SrcDescSize(sd) >= least && gex_AM_SrcDescSize(sd) <= most);
  if (client_buf != nullptr)
    CHECK(gex_AM_SrcDescAddr(sd) == client_buf);
  else
    CHECK_EQ(reinterpret_cast<uintptr_t>(gex_AM_SrcDescAddr(sd)) % alignof(std::max_align_t), 0u);
}

gex_Flags_t least_flag(Buffer buffer) {
  return buffer == Buffer::client ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT
                                  : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
}
gex_Event_t* option(Buffer buffer) {
  return buffer == Buffer::client ? GEX_EVENT_NOW : nullptr;
}

// Requests of every size class; `round` decides how wide the negotiated range is and how much of
// the answer is sent.
void requests(bool is_long, Buffer buffer, Dest dest) {
  const size_t limit = is_long ? gex_AM_MaxRequestLong(job().tm, GEX_RANK_INVALID, option(buffer),
                                                       least_flag(buffer), 3)
                               : gex_AM_MaxRequestMedium(job().tm, GEX_RANK_INVALID, option(buffer),
                                                         least_flag(buffer), 3);
  std::vector<char> own(2 * limit);
  uint32_t state = 12345 + job().rank;
  const unsigned rounds = spec::scaled(300, 30);
  unsigned sent = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const gex_Rank_t target = round % 5 == 0 ? job().rank : job().peer();
    const size_t least = round % 7 == 0 ? limit : next_random(state) % limit + 1;
    // The most may be far beyond any limit, and in the library's own buffer costs nothing then.
    const size_t most = round % 3 == 0   ? least
                        : round % 3 == 1 ? least + next_random(state) % (2 * limit - least + 1)
                        : buffer == Buffer::client ? 2 * limit
                                                   : size_t{1} << 40;
    void* const client_buf = buffer == Buffer::client ? own.data() : nullptr;
    const size_t offset = place(round);
    void* const place_there = spec::segment_of(target, offset);
    void* const address =
        dest == Dest::as_offset ? spec::as_offset(target, place_there) : place_there;
    const gex_Flags_t flags = dest == Dest::as_offset ? GEX_FLAG_PEER_SEG_OFFSET : 0;
    const gex_AM_SrcDesc_t sd =
        is_long ? gex_AM_PrepareRequestLong(job().tm, target, client_buf, least, most,
                                            dest == Dest::at_commit ? nullptr : address,
                                            option(buffer), flags, 3)
                : gex_AM_PrepareRequestMedium(job().tm, target, client_buf, least, most,
                                              option(buffer), flags, 3);
    check_answer(sd, client_buf, least, most);
    const size_t granted = gex_AM_SrcDescSize(sd);
    size_t bytes = round % 4 == 0   ? granted
                   : round % 4 == 1 ? granted & ~size_t{7}
                                    : next_random(state) % (granted + 1);
    if (round % 11 == 10) bytes = 0;
    if (is_long) bytes = std::min(bytes, kPlace);
    spec::fill(gex_AM_SrcDescAddr(sd), bytes, round);
    const auto seed = static_cast<gex_AM_Arg_t>(round), length = static_cast<gex_AM_Arg_t>(bytes);
    ++sent;
    if (is_long)
      gex_AM_CommitRequestLong3(sd, message, bytes, address, seed, length,
                                static_cast<gex_AM_Arg_t>(offset));
    else
      gex_AM_CommitRequestMedium3(sd, message, bytes, seed, length, -1);
    std::memset(own.data(), 0xEE, own.size());
    // The places are few, and a sender may not overwrite what has not been looked at.
    if (is_long && sent % (kPlaces / 2) == 0) await(sent), sent = 0;
  }
  await(sent);
}

}  // namespace

// Each would catch a size outside what was asked for, a misaligned buffer, a payload that is cut,
// shifted or read after its local completion, and a destination that is taken from the wrong call.
SPEC_CASE(am_negotiated, medium_library_buffer) {
  requests(false, Buffer::library, Dest::at_commit);
}
SPEC_CASE(am_negotiated, medium_client_buffer) {
  requests(false, Buffer::client, Dest::at_commit);
}
SPEC_CASE(am_negotiated, long_library_buffer) {
  requests(true, Buffer::library, Dest::at_commit);
}
SPEC_CASE(am_negotiated, long_library_buffer_dest_at_prepare) {
  requests(true, Buffer::library, Dest::at_prepare);
}
SPEC_CASE(am_negotiated, long_client_buffer) {
  requests(true, Buffer::client, Dest::at_prepare);
}
SPEC_CASE(am_negotiated, long_client_buffer_dest_at_commit) {
  requests(true, Buffer::client, Dest::at_commit);
}
SPEC_CASE(am_negotiated, long_dest_as_offset) {
  requests(true, Buffer::library, Dest::as_offset);
  requests(true, Buffer::client, Dest::as_offset);
}

// ---- replies ----
namespace {

std::vector<char> reply_source;
gex_Event_t reply_event;
// Requests whose handler has nothing left to do. Its reply may be seen before that: the handler
// may run on the library's own thread, and be interrupted behind its Commit.
std::atomic<unsigned> answered{0};

// Bits of what the request handler shall do.
enum : gex_AM_Arg_t { kLong = 1, kClient = 2, kCancelFirst = 4, kEvent = 8, kImmediate = 16 };

gex_AM_SrcDesc_t prepare_reply(gex_Token_t token, gex_AM_Arg_t how, void* client_buf, size_t least,
                               size_t most, gex_Flags_t flags) {
  gex_Event_t* const lc = (how & kEvent) ? &reply_event : client_buf ? GEX_EVENT_NOW : nullptr;
  return (how & kLong)
             ? gex_AM_PrepareReplyLong(token, client_buf, least, most, nullptr, lc, flags, 3)
             : gex_AM_PrepareReplyMedium(token, client_buf, least, most, lc, flags, 3);
}

void on_ask(gex_Token_t token, gex_AM_Arg_t how, gex_AM_Arg_t seed, gex_AM_Arg_t offset) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const bool client = (how & kClient) != 0;
  const gex_Flags_t query =
      client ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  const gex_Event_t* const lc = client ? GEX_EVENT_NOW : nullptr;
  const size_t most_now = (how & kLong) ? gex_Token_MaxReplyLong(token, lc, query, 3)
                                        : gex_Token_MaxReplyMedium(token, lc, query, 3);
  const size_t limit = client ? std::min(most_now, reply_source.size() / 2) : most_now;
  const size_t least = static_cast<size_t>(seed) % 3 == 0 ? limit : limit / 3 + 1;
  void* const buffer = client ? reply_source.data() : nullptr;
  const size_t most = 2 * limit;
  if (how & kCancelFirst) {
    const gex_AM_SrcDesc_t sd = prepare_reply(token, how, buffer, least, most, 0);
    std::memset(gex_AM_SrcDescAddr(sd), 0x11, least);
    const int status =
        (how & kLong) ? gex_AM_CancelReplyLong(sd, 0) : gex_AM_CancelReplyMedium(sd, 0);
    if (status != 0) wrong.fetch_add(1, std::memory_order_relaxed);
  }
  gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
  // A refused one may be tried again in the same handler.
  if (how & kImmediate) sd = prepare_reply(token, how, buffer, least, most, GEX_FLAG_IMMEDIATE);
  if (sd == GEX_AM_SRCDESC_NO_OP) sd = prepare_reply(token, how, buffer, least, most, 0);
  const size_t granted = gex_AM_SrcDescSize(sd);
  if (granted < least || granted > most) wrong.fetch_add(1, std::memory_order_relaxed);
  const size_t bytes = std::min<size_t>(granted - static_cast<size_t>(seed) % 5, kPlace);
  spec::fill(gex_AM_SrcDescAddr(sd), bytes, static_cast<uint32_t>(seed));
  const auto length = static_cast<gex_AM_Arg_t>(bytes);
  if (how & kLong)
    gex_AM_CommitReplyLong3(sd, message, bytes,
                            spec::segment_of(info.gex_srcrank, static_cast<size_t>(offset)), seed,
                            length, offset);
  else
    gex_AM_CommitReplyMedium3(sd, message, bytes, seed, length, -1);
  if (client && !(how & kEvent)) std::memset(reply_source.data(), 0xEE, reply_source.size());
  answered.fetch_add(1, std::memory_order_release);
}
spec::Handler ask(&on_ask, GEX_FLAG_AM_REQUEST, "negotiated ask");

// Requests to oneself and to the next rank, one at a time: handlers share the source. Each rank
// sends and answers one in each turn.
void replies(gex_AM_Arg_t how) {
  reply_source.assign(size_t{1} << 17, 0);
  answered.store(0, std::memory_order_relaxed);
  spec::barrier();
  for (unsigned i = 0; i < spec::scaled(60, 12); ++i) {
    const gex_Rank_t target = i % 2 == 0 ? job().rank : job().peer();
    const size_t landing = (size_t{3} << 20) + size_t{i % 2} * kPlace;
    gex_AM_RequestShort3(job().tm, target, ask, 0, how, static_cast<gex_AM_Arg_t>(i),
                         static_cast<gex_AM_Arg_t>(landing));
    GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) == i + 1);
    GASNET_BLOCKUNTIL(answered.load(std::memory_order_acquire) == i + 1);
    if (how & kEvent) {
      // The handler's, for the rank behind or for this one.
      gex_Event_Wait(reply_event);
      std::memset(reply_source.data(), 0xEE, reply_source.size());
    }
    spec::barrier();
  }
  await(spec::scaled(60, 12));
}

}  // namespace

SPEC_CASE(am_negotiated, reply_medium_library_buffer) {
  replies(0);
  replies(kImmediate);
  replies(kCancelFirst);
}
SPEC_CASE(am_negotiated, reply_medium_client_buffer) {
  replies(kClient);
  replies(kClient | kImmediate);
  replies(kClient | kCancelFirst);
  replies(kClient | kEvent);
}
SPEC_CASE(am_negotiated, reply_long_library_buffer) {
  replies(kLong);
  replies(kLong | kImmediate);
  replies(kLong | kCancelFirst);
}
SPEC_CASE(am_negotiated, reply_long_client_buffer) {
  replies(kLong | kClient);
  replies(kLong | kClient | kImmediate);
  replies(kLong | kClient | kCancelFirst);
  replies(kLong | kClient | kEvent);
}

// ---- local completion of the client's buffer ----
namespace {

// How many the sender's messages are, plus one.
std::atomic<unsigned> announced{0};
void on_announce(gex_Token_t, gex_AM_Arg_t count) {
  announced.store(static_cast<unsigned>(count) + 1, std::memory_order_release);
}
spec::Handler announce(&on_announce, GEX_FLAG_AM_REQUEST, "negotiated announce");

template <typename Finish>
void client_buffers(bool is_long, gex_Flags_t flags, gex_Event_t* lc, Finish finish) {
  constexpr unsigned kCount = kPlaces;
  constexpr size_t kBytes = 5000;
  std::vector<std::vector<char>> sources(kCount, std::vector<char>(kBytes));
  std::vector<gex_Event_t> events(kCount, GEX_EVENT_NO_OP);
  std::vector<size_t> sizes(kCount);
  unsigned sent = 0;
  for (unsigned i = 0; i < kCount; ++i) {
    gex_Event_t* const own = lc != nullptr ? lc : &events[i];
    const gex_AM_SrcDesc_t sd =
        is_long ? gex_AM_PrepareRequestLong(job().tm, job().peer(), sources[i].data(), 512, kBytes,
                                            nullptr, own, flags, 3)
                : gex_AM_PrepareRequestMedium(job().tm, job().peer(), sources[i].data(), 512,
                                              kBytes, own, flags, 3);
    if (sd == GEX_AM_SRCDESC_NO_OP) {
      CHECK(flags & GEX_FLAG_IMMEDIATE);
      events[i] = GEX_EVENT_INVALID;
      continue;
    }
    sizes[i] = gex_AM_SrcDescSize(sd);
    spec::fill(sources[i].data(), sizes[i], i);
    ++sent;
    const auto n = static_cast<gex_AM_Arg_t>(sizes[i]), seed = static_cast<gex_AM_Arg_t>(i);
    if (is_long)
      gex_AM_CommitRequestLong3(sd, message, sizes[i], spec::segment_of(job().peer(), place(i)),
                                seed, n, static_cast<gex_AM_Arg_t>(place(i)));
    else
      gex_AM_CommitRequestMedium3(sd, message, sizes[i], seed, n, -1);
    if (lc == nullptr) CHECK(events[i] != GEX_EVENT_NO_OP);
    if (lc == GEX_EVENT_NOW) std::memset(sources[i].data(), 0xEE, kBytes);
  }
  finish(events);
  for (auto& source : sources) std::memset(source.data(), 0xEE, kBytes);
  CHECK((flags & GEX_FLAG_IMMEDIATE) || sent == kCount);
  gex_AM_RequestShort1(job().tm, job().peer(), announce, 0, static_cast<gex_AM_Arg_t>(sent));
  GASNET_BLOCKUNTIL(announced.load(std::memory_order_acquire) != 0);
  await(announced.exchange(0, std::memory_order_relaxed) - 1);
}

void all_options(bool is_long, gex_Flags_t flags) {
  client_buffers(is_long, flags, GEX_EVENT_NOW, [](auto&) {});
  client_buffers(is_long, flags, nullptr,
                 [](auto& events) { gex_Event_WaitAll(events.data(), events.size(), 0); });
  client_buffers(is_long, flags, GEX_EVENT_GROUP, [](auto&) { gex_NBI_Wait(GEX_EC_AM, 0); });
  gex_NBI_BeginAccessRegion(0);
  client_buffers(is_long, flags, GEX_EVENT_GROUP,
                 [](auto&) { gex_Event_Wait(gex_NBI_EndAccessRegion(0)); });
}

}  // namespace

// Would catch a client's buffer that is read after its event, its group or the Commit said that
// it may be overwritten, and an event that Prepare or Commit forgets to write.
SPEC_CASE(am_negotiated, medium_local_completion) {
  all_options(false, 0);
  all_options(false, GEX_FLAG_IMMEDIATE);
}
SPEC_CASE(am_negotiated, long_local_completion) {
  all_options(true, 0);
  all_options(true, GEX_FLAG_IMMEDIATE);
}

// ---- limits ----
// What the queries promise for Prepare, with each of its flags.
SPEC_CASE(am_negotiated, limits) {
  using Query = size_t (*)(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t, unsigned);
  const Query queries[] = {gex_AM_MaxRequestMedium, gex_AM_MaxReplyMedium, gex_AM_MaxRequestLong,
                           gex_AM_MaxReplyLong};
  for (const Query query : queries)
    for (gex_Flags_t immediate : {gex_Flags_t{0}, GEX_FLAG_IMMEDIATE})
      for (Buffer buffer : {Buffer::library, Buffer::client}) {
        const gex_Flags_t flags = immediate | least_flag(buffer);
        size_t before = SIZE_MAX;
        for (unsigned nargs = 0; nargs <= gex_AM_MaxArgs(); ++nargs) {
          size_t least = SIZE_MAX;
          for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
            const size_t most = query(job().tm, rank, option(buffer), flags, nargs);
            CHECK(most >= 512);
            CHECK_EQ(query(job().tm, rank, option(buffer), flags, nargs), most);
            CHECK_EQ(query(gex_TM_Pair(job().ep, 0), rank, option(buffer), flags, nargs), most);
            least = std::min(least, most);
          }
          CHECK_EQ(query(job().tm, GEX_RANK_INVALID, option(buffer), flags, nargs), least);
          CHECK(least <= before);
          before = least;
        }
      }
}

// Preparing changes nothing that can be seen until the Commit: cancelled ones leave no message,
// no room taken, and a destination untouched.
SPEC_CASE(am_negotiated, cancelled) {
  const size_t medium =
      gex_AM_MaxRequestMedium(job().tm, job().peer(), nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
  const size_t longs =
      gex_AM_MaxRequestLong(job().tm, job().peer(), nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
  std::vector<char> own(longs, 'o');
  std::byte* const here = spec::my_segment(place(0) - size_t{job().rank % 4} * kPlaces * kPlace +
                                           size_t{job().behind() % 4} * kPlaces * kPlace);
  spec::fill(here, 4096, 77);
  spec::barrier();
  for (unsigned i = 0; i < spec::scaled(2000, 50); ++i) {
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(job().tm, job().peer(), nullptr, medium, medium, nullptr, 0, 0);
    std::memset(gex_AM_SrcDescAddr(sd), 0x22, gex_AM_SrcDescSize(sd));
    CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), GASNET_OK);
    sd = gex_AM_PrepareRequestLong(job().tm, job().peer(), nullptr, 1, longs,
                                   spec::segment_of(job().peer(), place(0)), nullptr, 0, 2);
    std::memset(gex_AM_SrcDescAddr(sd), 0x33, gex_AM_SrcDescSize(sd));
    CHECK_EQ(gex_AM_CancelRequestLong(sd, 0), GASNET_OK);
    sd = gex_AM_PrepareRequestMedium(job().tm, job().peer(), own.data(), 1, own.size(),
                                     GEX_EVENT_NOW, 0, 1);
    CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), GASNET_OK);
    sd = gex_AM_PrepareRequestLong(job().tm, job().peer(), own.data(), 1, own.size(), nullptr,
                                   GEX_EVENT_NOW, 0, 1);
    CHECK_EQ(gex_AM_CancelRequestLong(sd, 0), GASNET_OK);
  }
  spec::barrier();
  CHECK_EQ(arrived.load(std::memory_order_acquire), 0u);
  CHECK_PATTERN(here, 4096, 77);
  spec::barrier();
}
