// causeway-bench-ucx: the library over conduit ucx beside a program that speaks UCX itself, in
// turn, between the same two processes on the same cores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "../raw/ucx_loop.h"
#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

constexpr size_t kSegment = 8 << 20;
constexpr size_t kLargest = 4 << 20;
constexpr unsigned kWindow = 256;

struct Wish {
  std::string tls = "tcp,self";
  std::vector<std::string> only;
  bool quick = false;
};

int parse(int argc, char** argv, Wish& wish) {
  CLI::App app{"The measuring program of `causeway bench --network ucx`; start it through that"};
  app.add_option("--tls", wish.tls, "Transports of the raw loop, as UCX_TLS");
  app.add_option("--only", wish.only, "Figures by name")->delimiter(',');
  app.add_flag("--quick", wish.quick, "Few and short repetitions");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return -1;
}

class Network {
 public:
  Network(Session& session, raw::UcxLoop& loop)
      : session_(session), job_(session.job()), loop_(loop) {
    local_ = static_cast<unsigned char*>(aligned_alloc(4096, kLargest));
    std::memset(local_, 1, kLargest);
    counters.block = local_;
  }
  ~Network() { free(local_); }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  void measure();

 private:
  template <class Ours, class Raw>
  void compare(const char* name, uint64_t most, Ours&& ours, Raw&& raw);
  // The first rank measures `body(turns)`, the other one makes progress for that side meanwhile.
  template <class Body>
  double series(bool raw_side, uint64_t turns, Body&& body);
  void put(const char* name, size_t bytes);
  void get(const char* name, size_t bytes);
  void messages();
  void flood();

  Session& session_;
  Job& job_;
  raw::UcxLoop& loop_;
  unsigned char* local_;
  uint64_t phase_ = 0;
};

template <class Body>
double Network::series(bool raw_side, uint64_t turns, Body&& body) {
  std::atomic<uint64_t>& ended = job_.shared()->line.turn;
  ++phase_;
  double elapsed = 0;
  if (job_.is_first()) {
    elapsed = elapsed_ns([&] { body(turns); });
    ended.store(phase_, std::memory_order_release);
  } else {
    while (ended.load(std::memory_order_acquire) != phase_) {
      if (raw_side) {
        loop_.progress();
      } else {
        gasnet_AMPoll();
      }
    }
  }
  job_.sync();
  return elapsed / static_cast<double>(turns);
}

template <class Ours, class Raw>
void Network::compare(const char* name, uint64_t most, Ours&& ours, Raw&& raw) {
  if (!session_.wants(name)) return;
  series(true, 4, raw);
  const double once = series(false, 4, ours);
  // A repetition is some tens of round trips: ten times what memory takes.
  const uint64_t turns = job_.from_root(turns_for(10 * session_.aim_ns(), once, most));
  const Comparison result = interleave(
      session_.repetitions(), [&] { return series(false, turns, ours); },
      [&] { return series(true, turns, raw); });
  session_.report(
      {name, result.ours, result.raw, "library", job_.oversubscribed() ? "ranks share cores" : ""});
}

void Network::put(const char* name, size_t bytes) {
  unsigned char* const owner = job_.owner_address(job_.peer());
  compare(
      name, 1 << 12,
      [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i)
          gex_RMA_PutBlocking(job_.tm(), job_.peer(), owner, local_, bytes, 0);
      },
      [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) loop_.put(local_, bytes);
      });
}

void Network::get(const char* name, size_t bytes) {
  unsigned char* const owner = job_.owner_address(job_.peer());
  compare(
      name, 1 << 12,
      [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i)
          gex_RMA_GetBlocking(job_.tm(), local_, job_.peer(), owner, bytes, 0);
      },
      [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) loop_.get(local_, bytes);
      });
}

void Network::messages() {
  compare(
      "ucx.am.short", 1 << 12,
      [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
          const uint64_t before = counters.pongs;
          gex_AM_RequestShort1(job_.tm(), job_.peer(), kPing, 0, static_cast<gex_AM_Arg_t>(i));
          GASNET_BLOCKUNTIL(counters.pongs != before);
        }
      },
      [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) loop_.round_trip();
      });
}

// Nanoseconds per put.
void Network::flood() {
  if (!session_.wants("ucx.flood8")) return;
  unsigned char* const owner = job_.owner_address(job_.peer());
  const auto ours = [&](uint64_t n) {
    for (uint64_t done = 0; done < n; done += kWindow) {
      for (unsigned i = 0; i < kWindow; ++i)
        gex_RMA_PutNBI(job_.tm(), job_.peer(), owner + 8 * i, local_, 8, GEX_EVENT_DEFER, 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
    }
  };
  const auto raw = [&](uint64_t n) { loop_.flood(local_, n, kWindow); };
  const uint64_t turns = session_.quick() ? kWindow : 16 * kWindow;
  series(false, kWindow, ours);
  series(true, kWindow, raw);
  const Comparison result = interleave(
      session_.repetitions(), [&] { return series(false, turns, ours); },
      [&] { return series(true, turns, raw); });
  session_.report({"ucx.flood8", result.ours, result.raw, "library", ""});
}

void Network::measure() {
  put("ucx.put8", 8);
  get("ucx.get8", 8);
  messages();
  put("ucx.put.4KiB", 4 << 10);
  get("ucx.get.4KiB", 4 << 10);
  put("ucx.put.1MiB", 1 << 20);
  put("ucx.put.4MiB", 4 << 20);
  get("ucx.get.4MiB", 4 << 20);
  flood();
}

// Cards travel through the memory that the ranks share without the library.
void introduce(Job& job, raw::UcxLoop& loop) {
  constexpr size_t kRoom = 64 << 10;
  const auto at = [&](uint32_t rank) { return job.shared()->data + rank * kRoom; };
  const std::vector<unsigned char> card = loop.card();
  const size_t length = card.size();
  std::memcpy(at(job.rank()), &length, sizeof length);
  std::memcpy(at(job.rank()) + sizeof length, card.data(), length);
  job.sync();
  size_t theirs = 0;
  std::memcpy(&theirs, at(job.peer()), sizeof theirs);
  loop.connect(at(job.peer()) + sizeof theirs, theirs);
  job.sync();
}

int run(Job& job, const Wish& wish) {
  if (job.size() != 2) {
    fmt::print(stderr, "causeway-bench-ucx: needs 2 ranks\n");
    return 1;
  }
  job.map_shared();
  if (job.shared() == nullptr) {
    fmt::print(stderr, "causeway-bench-ucx: ranks cannot share memory through /proc/PID/fd\n");
    return 1;
  }
  try {
    raw::UcxLoop loop(wish.tls, kLargest);
    introduce(job, loop);
    if (job.is_first()) {
      fmt::print("facts ranks {} cores {} pinned {}\n", job.size(), job.cores(),
                 job.pinned() ? 1 : 0);
      fflush(stdout);
    }
    Session session(job, wish.quick, wish.only);
    Network(session, loop).measure();
    job.sync();
  } catch (const std::exception& e) {
    fmt::print(stderr, "causeway-bench-ucx: {}\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  Wish wish;
  if (const int status = parse(argc, argv, wish); status >= 0) return status;
  Job job(&argc, &argv, kSegment, true);
  const int status = run(job, wish);
  job.sync();
  gasnet_exit(status);
}
