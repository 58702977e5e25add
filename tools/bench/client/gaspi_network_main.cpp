// causeway-bench-gaspi-LIBRARY: GASPI over one network conduit beside a program that speaks that
// network's own library, in turn, between the same two processes on the same cores. With whatever
// progress thread the configuration has.
#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "../raw/network_pair.h"
#include "gaspi_pair.h"
#include "measure.h"

namespace causeway::bench {
namespace {

constexpr size_t kBulk = 1 << 20;
constexpr uint32_t kAtOnce = 8;
constexpr size_t kHalf = kBulk * kAtOnce;  // what the other rank reaches; the rest is local data
constexpr size_t kRoom = 64 << 10;         // for the raw side's introduction

struct Shared {
  alignas(64) std::atomic<uint64_t> ended;     // how many raw series the first rank has ended
  alignas(64) std::atomic<uint64_t> apart[2];  // see part()
  alignas(64) char words[2][kRoom];
};

class Bench {
 public:
  Bench(const std::string& name, const std::string& transport, Wanted wanted);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  void measure();

 private:
  // A barrier behind which neither rank needs the library's progress of the other one, who leaves
  // it alone for a while: what one of them has to say of the barrier may be in its library still.
  void part();
  std::string exchange(const std::string& words);
  // Nanoseconds per turn of `body(turns)` at the first rank; the other one moves the raw side on.
  template <typename Body>
  double raw_series(uint64_t turns, Body&& body);
  void write_notify();
  void write_bulk();
  unsigned repetitions() const { return pair_.quick() ? 3 : 31; }

  GaspiPair pair_;
  std::string name_;
  Shared* shared_;
  unsigned char* memory_;  // both sides': what physical pages a mapping gets is worth 10 %
  std::unique_ptr<raw::NetworkPair> raw_;
  uint64_t series_ = 0, partings_ = 0;
};

Bench::Bench(const std::string& name, const std::string& transport, Wanted wanted)
    : pair_(2 * kHalf, sizeof(Shared), std::move(wanted)),
      name_(name),
      shared_(static_cast<Shared*>(pair_.shared())),
      memory_(pair_.segment()) {
  std::memset(memory_, 1, 2 * kHalf);
  raw_ = raw::make_network_pair({transport, pair_.is_first(), memory_, kHalf,
                                 [this](const std::string& words) { return exchange(words); }});
}

void Bench::part() {
  meet();
  ++partings_;
  shared_->apart[pair_.is_first() ? 0 : 1].store(partings_, std::memory_order_release);
  while (shared_->apart[pair_.other()].load(std::memory_order_acquire) < partings_) pair_.poll();
}

std::string Bench::exchange(const std::string& words) {
  const auto at = [&](gaspi_rank_t rank) { return shared_->words[rank]; };
  const size_t length = words.size();
  if (length > kRoom - sizeof length) throw std::runtime_error("too long an introduction");
  const gaspi_rank_t own = pair_.is_first() ? 0 : 1;
  std::memcpy(at(own), &length, sizeof length);
  std::memcpy(at(own) + sizeof length, words.data(), length);
  meet();
  size_t theirs = 0;
  std::memcpy(&theirs, at(pair_.other()), sizeof theirs);
  std::string out(at(pair_.other()) + sizeof theirs, theirs);
  part();
  return out;
}

template <typename Body>
double Bench::raw_series(uint64_t turns, Body&& body) {
  part();
  ++series_;
  if (pair_.is_first()) {
    const double elapsed = elapsed_ns([&] { body(turns); });
    shared_->ended.store(series_, std::memory_order_release);
    return elapsed / static_cast<double>(turns);
  }
  // Where the kernel carries the data it needs processors too.
  const uint32_t looks = pair_.cores() < 2 ? 16 : 1000;
  for (uint32_t turn = 1; shared_->ended.load(std::memory_order_acquire) != series_; ++turn) {
    raw_->progress();
    if (turn % looks == 0) sched_yield();
  }
  return 0;
}

void Bench::write_notify() {
  // Long enough that the progress thread's way to leave a program alone that polls, some looks in
  // the first milliseconds, is not all that is measured.
  const uint64_t count = pair_.quick() ? 20 : 1000;
  const auto ours = [&] {
    const double elapsed = pair_.notified_trips(count);
    // Where no thread makes progress the other rank needs this one for its gaspi_wait.
    meet();
    return elapsed;
  };
  ours();  // connections are made
  const Comparison result = interleave(repetitions(), ours, [&] {
    return raw_series(count, [&](uint64_t n) { raw_->trips(n, 0); });
  });
  pair_.report("net.gaspi.write_notify", result.ours, result.raw, name_, "", result.spread);
}

void Bench::write_bulk() {
  const uint64_t count = pair_.quick() ? kAtOnce : 4 * kAtOnce;
  const auto ours = [&] {
    meet();
    double elapsed = 0;
    if (pair_.is_first()) {
      elapsed = elapsed_ns([&] {
        for (uint64_t i = 0; i < count; ++i) {
          const gaspi_offset_t at = i % kAtOnce * kBulk;
          REQUIRE(gaspi_write(0, kHalf + at, 1, 0, at, kBulk, 0, GASPI_BLOCK));
          if (i % kAtOnce == kAtOnce - 1) REQUIRE(gaspi_wait(0, GASPI_BLOCK));
        }
      });
    }
    meet();
    return elapsed / static_cast<double>(count);
  };
  ours();
  const Comparison result = interleave(repetitions(), ours, [&] {
    return raw_series(count, [&](uint64_t n) { raw_->put(kBulk, n, kAtOnce); });
  });
  constexpr double kMicroseconds = 1e3;
  pair_.report("net.gaspi.write.1MiB", result.ours / kMicroseconds, result.raw / kMicroseconds,
               name_,
               fmt::format("{:.2f} GB/s, raw {:.2f}", kBulk / result.ours, kBulk / result.raw),
               result.spread);
}

void Bench::measure() {
  pair_.tell_facts();
  if (pair_.wants("net.gaspi.write_notify")) write_notify();
  if (pair_.wants("net.gaspi.write.1MiB")) write_bulk();
  meet();
  raw_.reset();
  pair_.leave();
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  Wanted wanted;
  std::string name, transport;
  causeway::Options app("A measuring program of `causeway bench --network`; start it through that");
  app.option("--name", name, "Network, as the table calls it");
  app.option("--transport", transport, "Of the raw loops, in the words of their library");
  wanted.add_options(app);
  if (const auto status = app.parse(argc, argv)) return *status;
  try {
    Bench(name, transport, std::move(wanted)).measure();
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", program_invocation_short_name, e.what());
    return 1;
  }
  return 0;
}
