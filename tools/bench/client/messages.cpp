// Active messages between the two ranks of the pair, beside two processes that share memory.
//
// Every repetition is a series whose length all ranks know; a barrier of the library separates
// ours from raw, because in the raw loops nobody makes progress for the library.
#include <fmt/format.h>

#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

constexpr size_t kMostBlock = 32768;
unsigned char send_block[kMostBlock];
unsigned char receive_block[kMostBlock];

class Messages {
 public:
  explicit Messages(Session& session)
      : session_(session), job_(session.job()), share_(job_.oversubscribed()) {
    counters.block = receive_block;
  }

  // Short ones beside raw_bounce() or raw_answer().
  void short_round_trip(const char* name, double (Messages::*raw)(uint64_t));
  void medium_round_trip(size_t bytes, const char* name);
  void flood();
  void negotiated();
  double raw_bounce(uint64_t count);
  double raw_answer(uint64_t count);

 private:
  bool wants_mediums(size_t bytes, const char* name);
  // Nanoseconds of one of `count` turns of the first rank, while the second one does its part.
  template <class First, class Second>
  double series(uint64_t count, First&& first, Second&& second);
  double trips(uint64_t count, size_t block);
  template <class Raw>
  void round_trips(const char* name, size_t block, Raw&& raw);
  double raw_exchange(uint64_t count, size_t block);
  template <class Send>
  double one_way(uint64_t count, Send&& send);
  double flood_once(uint64_t count);
  double raw_flood(uint64_t count);
  double stream(uint64_t count, void (*send)(gex_TM_t, gex_Rank_t));
  // A series of which the first rank measures `aim` nanoseconds, as all ranks agree.
  uint64_t agree_on_turns(double ns_per_turn, double aim, uint64_t most) {
    return job_.from_root(turns_for(aim, ns_per_turn, most));
  }
  std::string note() const { return share_ ? "ranks share cores" : ""; }

  Session& session_;
  Job& job_;
  bool share_;
  uint64_t expected_pings_ = 0, expected_pongs_ = 0;
  uint64_t expected_floods_ = 0, expected_flood_ends_ = 0;
  uint64_t bounced_ = 0, flooded_ = 0;
};

template <class First, class Second>
double Messages::series(uint64_t count, First&& first, Second&& second) {
  double elapsed = 0;
  if (job_.is_first())
    elapsed = elapsed_ns(first);
  else if (job_.is_second())
    second();
  job_.sync();
  return elapsed / static_cast<double>(count);
}

double Messages::trips(uint64_t count, size_t block) {
  expected_pings_ += count;
  const gex_TM_t tm = job_.tm();
  const gex_Rank_t peer = job_.peer();
  const auto ping = [&] {
    for (uint64_t i = 0; i < count; ++i) {
      ++expected_pongs_;
      if (block != 0)
        gex_AM_RequestMedium1(tm, peer, kPingBlock, send_block, block, GEX_EVENT_NOW, 0,
                              static_cast<gex_AM_Arg_t>(i));
      else
        gex_AM_RequestShort1(tm, peer, kPing, 0, static_cast<gex_AM_Arg_t>(i));
      GASNET_BLOCKUNTIL(counters.pongs == expected_pongs_);
    }
  };
  return series(count, ping, [&] { GASNET_BLOCKUNTIL(counters.pings == expected_pings_); });
}

double Messages::raw_bounce(uint64_t count) {
  raw::Line& line = job_.shared()->line;
  const uint64_t start = 2 * bounced_;
  bounced_ += count;
  return series(
      count, [&] { raw::bounce_first(line, count, share_); },
      [&] { raw::bounce_second(line, start, count, share_); });
}

double Messages::raw_answer(uint64_t count) {
  raw::LinePair& lines = job_.shared()->lines;
  return series(
      count, [&] { raw::answer_first(lines, count, share_); },
      [&] { raw::answer_second(lines, count, share_); });
}

double Messages::raw_exchange(uint64_t count, size_t block) {
  raw::Exchange& shared = job_.shared()->exchange;
  return series(
      count, [&] { raw::exchange_first(shared, send_block, receive_block, block, count, share_); },
      [&] { raw::exchange_second(shared, send_block, receive_block, block, count, share_); });
}

template <class Raw>
void Messages::round_trips(const char* name, size_t block, Raw&& raw) {
  const uint64_t turns = agree_on_turns(trips(16, block), session_.aim_ns(), 1 << 14);
  const Comparison result = interleave(
      session_.repetitions(), [&] { return trips(turns, block); }, [&] { return raw(turns); });
  session_.report({name, result.ours, result.raw, "", note(), result.spread});
}

void Messages::short_round_trip(const char* name, double (Messages::*raw)(uint64_t)) {
  if (session_.wants(name)) round_trips(name, 0, [&](uint64_t n) { return (this->*raw)(n); });
}

// Is the figure wanted, and does a medium hold so many bytes? All ranks go by what the first finds.
bool Messages::wants_mediums(size_t bytes, const char* name) {
  if (!session_.wants(name)) return false;
  const size_t most = gex_AM_MaxRequestMedium(job_.tm(), job_.peer(), GEX_EVENT_NOW, 0, 1);
  if (job_.from_root(most) >= bytes) return true;
  if (job_.is_first())
    fmt::print(stderr, "causeway-bench: {} left out: a medium holds {} bytes\n", name, most);
  return false;
}

void Messages::medium_round_trip(size_t bytes, const char* name) {
  if (wants_mediums(bytes, name))
    round_trips(name, bytes, [&](uint64_t n) { return raw_exchange(n, bytes); });
}

// Nanoseconds per message, from the first request until the receiver has handled the last.
template <class Send>
double Messages::one_way(uint64_t count, Send&& send) {
  expected_floods_ += count;
  ++expected_flood_ends_;
  const auto send_all = [&] {
    for (uint64_t i = 0; i < count; ++i) send(i);
    GASNET_BLOCKUNTIL(counters.flood_ends == expected_flood_ends_);
  };
  const auto receive_all = [&] {
    GASNET_BLOCKUNTIL(counters.floods == expected_floods_);
    gex_AM_RequestShort0(job_.tm(), job_.peer(), kFloodEnd, 0);
  };
  return series(count, send_all, receive_all);
}

// Millions of messages a second.
double Messages::flood_once(uint64_t count) {
  const gex_TM_t tm = job_.tm();
  const gex_Rank_t peer = job_.peer();
  return 1e3 / one_way(count, [&](uint64_t i) {
           gex_AM_RequestShort1(tm, peer, kFlood, 0, static_cast<gex_AM_Arg_t>(i));
         });
}

double Messages::raw_flood(uint64_t count) {
  raw::Ring& ring = job_.shared()->ring;
  const uint64_t first = flooded_;
  flooded_ += count;
  return 1e3 / series(
                   count, [&] { raw::flood_send(ring, first, count, share_); },
                   [&] { raw::flood_receive(ring, first, count, share_); });
}

void Messages::flood() {
  const double million_per_s = flood_once(1000);
  // Ten times as long as the others: the start and the last answer must not count.
  const uint64_t turns =
      agree_on_turns(1e3 / std::max(million_per_s, 1e-3), 10 * session_.aim_ns(), 1 << 20);
  const Comparison result = interleave(
      session_.repetitions() / 2 + 1, [&] { return flood_once(turns); },
      [&] { return raw_flood(turns); });
  session_.report({"am.flood", result.ours, result.raw, "", note(), result.spread});
}

// A client's data seldom lies there ready to be sent: here it is assembled from elsewhere, either
// where the library sends it from or in a buffer of one's own.
constexpr size_t kStreamBlock = 16384;
unsigned char parts[kStreamBlock];
unsigned char assembled[kStreamBlock];

void send_assembled(gex_TM_t tm, gex_Rank_t peer) {
  memcpy(assembled, parts, kStreamBlock);
  gex_AM_RequestMedium1(tm, peer, kFloodBlock, assembled, kStreamBlock, GEX_EVENT_NOW, 0, 0);
}

void send_negotiated(gex_TM_t tm, gex_Rank_t peer) {
  const gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestMedium(tm, peer, nullptr, kStreamBlock, kStreamBlock, nullptr, 0, 1);
  memcpy(gex_AM_SrcDescAddr(sd), parts, kStreamBlock);
  gex_AM_CommitRequestMedium1(sd, kFloodBlock, kStreamBlock, 0);
}

double Messages::stream(uint64_t count, void (*send)(gex_TM_t, gex_Rank_t)) {
  return one_way(count, [&](uint64_t) { send(job_.tm(), job_.peer()); });
}

void Messages::negotiated() {
  if (!wants_mediums(kStreamBlock, "am.negotiated.16KiB")) return;
  const uint64_t turns =
      agree_on_turns(stream(16, send_negotiated), 10 * session_.aim_ns(), 1 << 14);
  const Comparison result = interleave(
      session_.repetitions(), [&] { return stream(turns, send_negotiated); },
      [&] { return stream(turns, send_assembled); });
  session_.report({"am.negotiated.16KiB", result.ours, result.raw, "", note(), result.spread});
}

}  // namespace

void measure_messages(Session& session) {
  if (session.job().shared() == nullptr) return;
  Messages messages(session);
  messages.short_round_trip("am.short", &Messages::raw_bounce);
  messages.short_round_trip("am.short.lines", &Messages::raw_answer);
  messages.medium_round_trip(4096, "am.medium.4KiB");
  messages.medium_round_trip(kMostBlock, "am.medium.32KiB");
  messages.negotiated();
  if (session.wants("am.flood")) messages.flood();
}

void measure_barrier(Session& session) {
  Job& job = session.job();
  if (job.shared() == nullptr || !session.wants("barrier")) return;
  const bool share = job.oversubscribed();
  const auto ours = [&](uint64_t count) {
    job.sync();
    return each_ns(count, [&] { job.sync(); });
  };
  const auto raw = [&](uint64_t count) {
    job.sync();
    return each_ns(count, [&] { raw::barrier(job.shared()->barrier, job.size(), share); });
  };
  const uint64_t turns = job.from_root(turns_for(session.aim_ns(), ours(16), 1 << 14));
  const Comparison result = interleave(
      session.repetitions(), [&] { return ours(turns); }, [&] { return raw(turns); });
  session.report({"barrier", result.ours, result.raw, "",
                  fmt::format("{} ranks{}", job.size(), share ? ", ranks share cores" : ""),
                  result.spread});
}

}  // namespace causeway::bench
