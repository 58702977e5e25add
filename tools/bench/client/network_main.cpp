// causeway-bench-LIBRARY: the library over one network conduit beside a program that speaks that
// network's own library, in turn, between the same two processes on the same cores.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "../raw/network_pair.h"
#include "../raw/socket_pair.h"
#include "measure.h"
#include "options/options.h"
#include "session.h"
#include "sweep.h"

namespace causeway::bench {
namespace {

constexpr size_t kHalf = kSweepHalf;  // reached by the other rank; the other half is local data

struct Wish : Wanted {
  std::string name, transport;
  std::vector<size_t> sweep;
  bool sockets = false;
};

std::optional<int> parse(int argc, char** argv, Wish& wish) {
  Options app("A measuring program of `causeway bench --network`; start it through that");
  app.option("--name", wish.name, "Network, as the table calls it");
  app.option("--transport", wish.transport, "Of the raw loops, in the words of their library");
  wish.add_options(app);
  app.option("--sweep", wish.sweep, "Sizes; --only names operations then").commas();
  app.flag("--sockets", wish.sockets, "Also beside bare kernel sockets");
  return app.parse(argc, argv);
}

// The pair as the plain side of a sweep; most pairs have messages of one size.
class PairLoops : public RawLoops {
 public:
  explicit PairLoops(raw::NetworkPair& pair) : pair_(pair) {}
  bool has(const SweepRow& row) const override {
    return row.op != SweepOp::am ||
           (row.window == 1 && (row.bytes <= kShort || pair_.has_payloads()));
  }
  void first(const SweepRow& row, uint64_t count) override {
    if (row.op == SweepOp::am) return pair_.trips(count, row.bytes <= kShort ? 0 : row.bytes);
    row.op == SweepOp::put ? pair_.put(row.bytes, count, row.window)
                           : pair_.get(row.bytes, count, row.window);
  }
  void second(const SweepRow&, uint64_t, const std::function<bool()>& ended) override {
    while (!ended()) pair_.progress();
  }

 private:
  static constexpr size_t kShort = 8;  // arguments alone
  raw::NetworkPair& pair_;
};

class Network {
 public:
  Network(Session& session, const Wish& wish, raw::NetworkPair& pair, raw::SocketPair* sockets)
      : session_(session), job_(session.job()), wish_(wish), pair_(pair), sockets_(sockets) {
    local_ = job_.owner_address(job_.rank()) + kHalf;
    counters.block = local_;
  }
  void measure();

 private:
  enum class Side { ours, pair, sockets };
  struct Sides {
    Side ours, raw;  // what is measured, and beside what
  };
  struct Size {
    size_t bytes;
    uint32_t window;
    uint64_t least;  // operations per repetition
  };

  template <class Ours, class Raw>
  void compare(const char* name, const Size& size, Sides sides, Ours&& ours, Raw&& raw);
  // The first rank measures `body(turns)`, the other one makes progress for that side meanwhile.
  template <class Body>
  double series(Side side, uint64_t turns, Body&& body);
  void move_on(Side side);
  void transfer(const char* name, SweepOp op, const Size& size);
  // Messages of so many bytes there and back; of none: short ones.
  void messages(const char* name, Sides sides, size_t bytes = 0);
  void round_trips(Side side, uint64_t n, size_t bytes);

  Session& session_;
  Job& job_;
  const Wish& wish_;
  raw::NetworkPair& pair_;
  raw::SocketPair* sockets_;
  unsigned char* local_;
  uint64_t phase_ = 0;
};

void Network::move_on(Side side) {
  switch (side) {
    case Side::ours:
      gasnet_AMPoll();
      break;
    case Side::pair:
      pair_.progress();
      break;
    case Side::sockets:
      sockets_->progress();
      break;
  }
}

template <class Body>
double Network::series(Side side, uint64_t turns, Body&& body) {
  return told_series(
      job_, ++phase_, turns, [&] { body(turns); },
      [&](const auto& ended) {
        while (!ended()) move_on(side);
      });
}

template <class Ours, class Raw>
void Network::compare(const char* name, const Size& size, Sides sides, Ours&& ours, Raw&& raw) {
  if (!session_.wants(name)) return;
  const uint64_t few = size.least;
  series(sides.raw, few, raw);
  const double once = series(sides.ours, few, ours);
  // A repetition is some tens of round trips: ten times what memory takes.
  uint64_t turns = turns_for(10 * session_.aim_ns(), once, 1 << 12);
  turns = (std::max(turns, size.least) + size.window - 1) / size.window * size.window;
  turns = job_.from_root(turns);
  const Comparison result = interleave(
      session_.repetitions(), [&] { return series(sides.ours, turns, ours); },
      [&] { return series(sides.raw, turns, raw); });
  std::string note = job_.oversubscribed() ? "ranks share cores" : "";
  if (size.bytes >= 1 << 20) {
    const double bytes = static_cast<double>(size.bytes);
    note += fmt::format("{}{:.2f} GB/s, raw {:.2f}", note.empty() ? "" : "; ", bytes / result.ours,
                        bytes / result.raw);
  }
  const double unit = size.bytes >= 1 << 20 ? 1e3 : 1;
  session_.report({name, result.ours / unit, result.raw / unit, wish_.name, note, result.spread});
}

void Network::transfer(const char* name, SweepOp op, const Size& size) {
  const SweepRow row{op, size.bytes, size.window};
  PairLoops loops(pair_);
  compare(
      name, size, {Side::ours, Side::pair},
      [&](uint64_t n) { run_transfers(job_, local_, row, n); },
      [&](uint64_t n) { loops.first(row, n); });
}

void Network::round_trips(Side side, uint64_t n, size_t bytes) {
  if (side == Side::pair) pair_.trips(n, bytes);
  if (side == Side::sockets) sockets_->trips(n, bytes);
  if (side != Side::ours) return;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t before = counters.pongs;
    const auto number = static_cast<gex_AM_Arg_t>(i);
    if (bytes == 0)
      gex_AM_RequestShort1(job_.tm(), job_.peer(), kPing, 0, number);
    else
      gex_AM_RequestMedium1(job_.tm(), job_.peer(), kPingBlock, local_, bytes, GEX_EVENT_NOW, 0,
                            number);
    GASNET_BLOCKUNTIL(counters.pongs != before);
  }
}

void Network::messages(const char* name, Sides sides, size_t bytes) {
  compare(
      name, {bytes, 1, 4}, sides, [&](uint64_t n) { round_trips(sides.ours, n, bytes); },
      [&](uint64_t n) { round_trips(sides.raw, n, bytes); });
}

void Network::measure() {
  transfer("net.put8", SweepOp::put, {8, 1, 4});
  transfer("net.get8", SweepOp::get, {8, 1, 4});
  messages("net.am.short", {Side::ours, Side::pair});
  if (sockets_ != nullptr) {
    messages("net.am.socket", {Side::ours, Side::sockets});
    messages("net.am.socket.bare", {Side::pair, Side::sockets});
    messages("net.am.socket.4KiB", {Side::ours, Side::sockets}, 4 << 10);
  }
  transfer("net.put.4KiB", SweepOp::put, {4 << 10, 1, 4});
  transfer("net.get.4KiB", SweepOp::get, {4 << 10, 1, 4});
  transfer("net.put.64KiB", SweepOp::put, {64 << 10, 16, 16});
  transfer("net.put.1MiB", SweepOp::put, {1 << 20, 8, 8});
  transfer("net.get.1MiB", SweepOp::get, {1 << 20, 8, 8});
  transfer("net.put.4MiB", SweepOp::put, {4 << 20, 4, 4});
  transfer("net.get.4MiB", SweepOp::get, {4 << 20, 4, 4});
  transfer("net.flood8", SweepOp::put, {8, raw::kMostAtOnce, session_.quick() ? 256u : 4096u});
}

// The raw loops exchange data through the memory that the ranks share without the library.
std::string exchange(Job& job, const std::string& words) {
  constexpr size_t kRoom = 64 << 10;
  const auto at = [&](uint32_t rank) { return job.shared()->data + rank * kRoom; };
  const size_t length = words.size();
  if (length > kRoom - sizeof length) throw std::runtime_error("too long an introduction");
  std::memcpy(at(job.rank()), &length, sizeof length);
  std::memcpy(at(job.rank()) + sizeof length, words.data(), length);
  job.sync();
  size_t theirs = 0;
  std::memcpy(&theirs, at(job.peer()), sizeof theirs);
  std::string out(reinterpret_cast<const char*>(at(job.peer())) + sizeof theirs, theirs);
  job.sync();
  return out;
}

// The raw loops use the segments too, registered with their library once more: what physical pages
// a mapping happens to get is worth 10 %.
void measure_all(Job& job, const Wish& wish) {
  const auto words = [&](const std::string& own) { return exchange(job, own); };
  unsigned char* const memory = job.owner_address(job.rank());
  std::memset(memory, 1, 2 * kHalf);
  const raw::NetworkPairParams params{wish.transport, job.is_first(), memory, kHalf, words};
  std::unique_ptr<raw::SocketPair> sockets;
  if (wish.sockets) sockets = std::make_unique<raw::SocketPair>(params);
  const auto pair = raw::make_network_pair(params);
  job.sync();
  if (job.is_first()) print_facts(job.size(), job.cores(), job.pinned());
  if (!wish.sweep.empty()) {
    PairLoops loops(*pair);
    return measure_sweep(job, wish.quick, {wish.only, wish.sweep, wish.name}, loops);
  }
  Session session(job, wish);
  Network(session, wish, *pair, sockets.get()).measure();
  job.sync();
}

int run(Job& job, const Wish& wish) {
  if (job.size() != 2) {
    fmt::print(stderr, "{}: needs 2 ranks\n", program_invocation_short_name);
    return 1;
  }
  job.map_shared();
  if (job.shared() == nullptr) {
    fmt::print(stderr, "{}: ranks cannot share memory through /proc/PID/fd\n",
               program_invocation_short_name);
    return 1;
  }
  try {
    measure_all(job, wish);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", program_invocation_short_name, e.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  Wish wish;
  if (const auto status = parse(argc, argv, wish)) return *status;
  Job job(&argc, &argv, 2 * kHalf, true);
  const int status = run(job, wish);
  // A rank that failed alone must not wait for the other one.
  if (status == 0) job.sync();
  gasnet_exit(status);
}
