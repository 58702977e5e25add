// Many messages at once: every rank floods every rank while all of them answer. Nothing may be
// lost, doubled or deadlocked, however full the queues are.
#include <atomic>
#include <memory>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

// One counter per (peer, sequence number): exactly-once is each counter being one.
struct Ledger {
  std::unique_ptr<std::atomic<uint8_t>[]> seen;
  std::atomic<unsigned> total{0};
  unsigned per_peer = 0;
  void open(unsigned messages_per_peer) {
    per_peer = messages_per_peer;
    seen = std::make_unique<std::atomic<uint8_t>[]>(size_t{per_peer} * job().size);
    total.store(0, std::memory_order_relaxed);
  }
  void note(gex_Rank_t peer, unsigned sequence) {
    if (sequence < per_peer)
      seen[size_t{peer} * per_peer + sequence].fetch_add(1, std::memory_order_relaxed);
    total.fetch_add(1, std::memory_order_release);
  }
  bool complete() const { return total.load(std::memory_order_acquire) >= per_peer * job().size; }
  void check() const {
    CHECK_EQ(total.load(std::memory_order_acquire), per_peer * job().size);
    for (size_t i = 0; i < size_t{per_peer} * job().size; ++i)
      CHECK_EQ(static_cast<unsigned>(seen[i].load(std::memory_order_relaxed)), 1u);
  }
};
Ledger requests, replies;
std::atomic<unsigned> wrong{0};

gex_Rank_t source_of(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

void check_payload(void* buffer, size_t bytes, unsigned sequence, gex_Rank_t from) {
  if (spec::first_difference(buffer, bytes, sequence * 64 + from) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
}

void on_short_reply(gex_Token_t token, gex_AM_Arg_t sequence) {
  replies.note(source_of(token), static_cast<unsigned>(sequence));
}
spec::Handler short_reply(&on_short_reply, GEX_FLAG_AM_REPLY, "storm reply");
void on_short(gex_Token_t token, gex_AM_Arg_t sequence) {
  requests.note(source_of(token), static_cast<unsigned>(sequence));
  gex_AM_ReplyShort1(token, short_reply, 0, sequence);
}
spec::Handler short_request(&on_short, GEX_FLAG_AM_REQUEST, "storm");

void on_medium_reply(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t sequence,
                     gex_AM_Arg_t from) {
  check_payload(buffer, bytes, static_cast<unsigned>(sequence), static_cast<gex_Rank_t>(from));
  replies.note(source_of(token), static_cast<unsigned>(sequence));
}
spec::Handler medium_reply(&on_medium_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY,
                           "storm medium reply");
void on_medium(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t sequence,
               gex_AM_Arg_t from) {
  check_payload(buffer, bytes, static_cast<unsigned>(sequence), static_cast<gex_Rank_t>(from));
  requests.note(source_of(token), static_cast<unsigned>(sequence));
  const size_t most = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 2);
  gex_AM_ReplyMedium2(token, medium_reply, buffer, bytes < most ? bytes : most, GEX_EVENT_NOW, 0,
                      sequence, from);
}
spec::Handler medium_request(&on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, "storm medium");

constexpr size_t kLongBytes = 8192;
void on_long_reply(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t sequence) {
  check_payload(buffer, bytes, static_cast<unsigned>(sequence), source_of(token));
  replies.note(source_of(token), static_cast<unsigned>(sequence));
}
spec::Handler long_reply(&on_long_reply, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, "storm long reply");
// A window of landing places per sender; the sender reuses one only after its reply came.
constexpr unsigned kWindow = 4;
std::byte* landing(gex_Rank_t at, gex_Rank_t from, unsigned sequence, bool reply) {
  const size_t slot = ((size_t{from} * kWindow) + sequence % kWindow) * 2 + (reply ? 1 : 0);
  return spec::segment_of(at, (size_t{1} << 20) + slot * kLongBytes);
}
void on_long(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t sequence) {
  const gex_Rank_t from = source_of(token);
  const auto number = static_cast<unsigned>(sequence);
  check_payload(buffer, bytes, number, from);
  requests.note(from, number);
  static thread_local char answer[kLongBytes];
  spec::fill(answer, bytes, number * 64 + job().rank);
  gex_AM_ReplyLong1(token, long_reply, answer, bytes, landing(from, job().rank, number, true),
                    GEX_EVENT_NOW, 0, sequence);
}
spec::Handler long_request(&on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, "storm long");

void open_ledgers(unsigned per_peer) {
  spec::barrier();
  requests.open(per_peer);
  replies.open(per_peer);
  spec::barrier();
}
void settle() {
  GASNET_BLOCKUNTIL(replies.complete() && requests.complete());
  spec::barrier();  // a doubled message would arrive before this ends, or soon after
  gasnet_AMPoll();
  requests.check();
  replies.check();
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
}

}  // namespace

// Nobody polls except inside its own requests: the answers must get through all the same.
SPEC_CASE(am_storm, short_all_to_all) {
  const unsigned per_peer = spec::scaled(8000, 64);
  open_ledgers(per_peer);
  for (unsigned i = 0; i < per_peer; ++i)
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      CHECK_EQ(gex_AM_RequestShort1(job().tm, rank, short_request, 0, static_cast<gex_AM_Arg_t>(i)),
               0);
  settle();
}

// Everybody floods rank 0 first: its queue is full for most of the time.
SPEC_CASE(am_storm, short_all_to_one_first) {
  const unsigned per_peer = spec::scaled(4000, 64);
  open_ledgers(per_peer);
  for (gex_Rank_t rank = 0; rank < job().size; ++rank)
    for (unsigned i = 0; i < per_peer; ++i)
      CHECK_EQ(gex_AM_RequestShort1(job().tm, rank, short_request, 0, static_cast<gex_AM_Arg_t>(i)),
               0);
  settle();
}

SPEC_CASE(am_storm, medium_all_to_all) {
  const unsigned per_peer = spec::scaled(1000, 16);
  open_ledgers(per_peer);
  size_t most = gex_AM_MaxRequestMedium(job().tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 2);
  if (job().size > 7) most = std::min(most, size_t{4096});
  std::vector<char> source(most);
  for (unsigned i = 0; i < per_peer; ++i) {
    const size_t bytes = i % 3 == 0 ? most : i * 37 % most;
    spec::fill(source.data(), bytes, i * 64 + job().rank);
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      CHECK_EQ(gex_AM_RequestMedium2(job().tm, (rank + job().rank) % job().size, medium_request,
                                     source.data(), bytes, GEX_EVENT_NOW, 0,
                                     static_cast<gex_AM_Arg_t>(i),
                                     static_cast<gex_AM_Arg_t>(job().rank)),
               0);
  }
  settle();
}

SPEC_CASE(am_storm, long_all_to_all) {
  const unsigned per_peer = spec::scaled(400, 16);
  open_ledgers(per_peer);
  std::vector<char> source(kLongBytes);
  for (unsigned i = 0; i < per_peer; ++i) {
    if (i % kWindow == 0)
      GASNET_BLOCKUNTIL(replies.total.load(std::memory_order_acquire) == i * job().size);
    const size_t bytes = 1 + i * 113 % kLongBytes;
    spec::fill(source.data(), bytes, i * 64 + job().rank);
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      CHECK_EQ(gex_AM_RequestLong1(job().tm, rank, long_request, source.data(), bytes,
                                   landing(rank, job().rank, i, false), GEX_EVENT_NOW, 0,
                                   static_cast<gex_AM_Arg_t>(i)),
               0);
  }
  settle();
}

// Messages and one-sided traffic share what carries them.
SPEC_CASE(am_storm, mixed_with_rma) {
  const unsigned per_peer = spec::scaled(1000, 32);
  open_ledgers(per_peer);
  const size_t mine = (size_t{8} << 20) + size_t{job().rank} * 65536;
  std::vector<char> source(4000), got(4000);
  spec::fill(source.data(), source.size(), job().rank);
  for (unsigned i = 0; i < per_peer; ++i)
    for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
      gex_AM_RequestShort1(job().tm, rank, short_request, 0, static_cast<gex_AM_Arg_t>(i));
      gex_RMA_PutNBI(job().tm, rank, spec::segment_of(rank, mine + i % 16 * 4000), source.data(),
                     source.size(), GEX_EVENT_DEFER, 0);
      if (i % 64 == 63) gex_NBI_Wait(GEX_EC_PUT, 0);
    }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  settle();
  for (gex_Rank_t rank = 0; rank < job().size; ++rank) {
    gex_RMA_GetBlocking(job().tm, got.data(), rank, spec::segment_of(rank, mine), got.size(), 0);
    CHECK_PATTERN(got.data(), got.size(), job().rank);
  }
  spec::barrier();
}
