// causeway-bench-gaspi: GASPI between two ranks of one host beside plain loops on memory that both
// have mapped, in turn, on the same cores. With whatever progress thread the configuration has.
#include <cstring>

#include "../raw/line.h"
#include "../raw/notify.h"
#include "gaspi_pair.h"
#include "measure.h"
#include "start.h"

namespace causeway::bench {
namespace {

constexpr size_t kBulk = 1 << 20;
constexpr size_t kSegment = 2 * kBulk + 4096;

struct Shared {
  raw::Line line;
  raw::NotifySide sides[2];
  alignas(4096) unsigned char block[kBulk];
};

class Bench {
 public:
  explicit Bench(Wanted wanted)
      : pair_(kSegment, sizeof(Shared), std::move(wanted)),
        shared_(static_cast<Shared*>(pair_.shared())) {}

  void measure() {
    pair_.tell_facts();
    if (pair_.wants("gaspi.write_notify"))
      write_notify("gaspi.write_notify", [this](uint64_t n) { bounces(n); });
    if (pair_.wants("gaspi.write_notify.lines"))
      write_notify("gaspi.write_notify.lines", [this](uint64_t n) { notifies(n); });
    if (pair_.wants("gaspi.write.1MiB")) write_bulk();
    if (pair_.wants("gaspi.barrier")) collective("gaspi.barrier", meet);
    if (pair_.wants("gaspi.allreduce.8"))
      collective("gaspi.allreduce.8", [] {
        double one = 1, sum = 0;
        REQUIRE(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL,
                                GASPI_BLOCK));
      });
    if (pair_.wants("gaspi.passive.64"))
      collective("gaspi.passive.64", [this] {
        gaspi_rank_t from = 0;
        if (pair_.is_first())
          REQUIRE(gaspi_passive_send(0, 0, 1, 64, GASPI_BLOCK));
        else
          REQUIRE(gaspi_passive_receive(0, 0, &from, 64, GASPI_BLOCK));
      });
    pair_.leave();
  }

 private:
  unsigned repetitions() const { return pair_.quick() ? 5 : 101; }
  bool crowded() const { return pair_.cores() < 2; }

  void bounces(uint64_t count);
  void notifies(uint64_t count) {
    raw::notify_trips(shared_->sides, pair_.is_first() ? 0 : 1, count, crowded());
  }
  template <typename Raw>
  void write_notify(const char* name, Raw&& raw);
  void write_bulk();
  template <typename Body>
  void collective(const char* name, Body&& body);

  GaspiPair pair_;
  Shared* shared_;
  uint64_t bounced_ = 0;
};

void Bench::bounces(uint64_t count) {
  if (pair_.is_first())
    raw::bounce_first(shared_->line, count, crowded());
  else
    raw::bounce_second(shared_->line, 2 * bounced_, count, crowded());
  bounced_ += count;
}

template <typename Raw>
void Bench::write_notify(const char* name, Raw&& raw) {
  const uint64_t count = crowded() ? 20 : pair_.quick() ? 200 : 2000;
  const Comparison result = interleave(
      repetitions(), [&] { return pair_.notified_trips(count); },
      [&] {
        meet();
        return elapsed_ns([&] { raw(count); }) / static_cast<double>(count);
      });
  pair_.report(name, result.ours, result.raw, "", "", result.spread);
}

void Bench::write_bulk() {
  meet();
  if (pair_.is_first()) {
    const auto ours = [] {
      return elapsed_ns([] {
        REQUIRE(gaspi_write(0, 4096, 1, 0, 4096 + kBulk, kBulk, 0, GASPI_BLOCK));
        REQUIRE(gaspi_wait(0, GASPI_BLOCK));
      });
    };
    const auto raw = [this] {
      return elapsed_ns([this] {
        std::memcpy(shared_->block, pair_.segment() + 4096, kBulk);
        asm volatile("" : : "r"(shared_->block) : "memory");
      });
    };
    ours();  // pages are touched
    raw();
    const Comparison result = interleave(repetitions(), ours, raw);
    pair_.report("gaspi.write.1MiB", result.ours, result.raw, "", "", result.spread);
  }
  meet();
}

template <typename Body>
void Bench::collective(const char* name, Body&& body) {
  const uint64_t count = crowded() ? 20 : 200;
  std::vector<double> times;
  for (unsigned i = 0; i < repetitions(); ++i) {
    meet();
    times.push_back(each_ns(count, body));
  }
  const double middle = median(times);
  pair_.report(name, middle, std::nullopt, "", "", spread_of(std::move(times), middle));
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  Wanted wanted;
  causeway::Options app("A measuring program of `causeway bench`; start it through that");
  wanted.add_options(app);
  if (const auto status = app.parse(argc, argv)) return *status;
  Bench(std::move(wanted)).measure();
  return 0;
}
