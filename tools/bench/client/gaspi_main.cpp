// causeway-bench-gaspi: GASPI between two ranks of one host beside plain loops on memory that both
// have mapped, in turn, on the same cores. With whatever progress thread the configuration has.
#include <GASPI.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../figures.h"
#include "../raw/line.h"
#include "measure.h"

namespace causeway::bench {
namespace {

constexpr size_t kBulk = 1 << 20;
constexpr size_t kSegment = 2 * kBulk + 4096;
constexpr gaspi_notification_id_t kNote = 1;

void require(gaspi_return_t result, const char* call) {
  if (result == GASPI_SUCCESS) return;
  fmt::print(stderr, "causeway-bench-gaspi: {}: {}\n", call, gaspi_error_str(result));
  std::exit(1);
}
#define REQUIRE(call) require(call, #call)

void meet() {
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
}

// A core for each rank, where there are as many.
unsigned bind_to_core(unsigned rank) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  const auto cores = static_cast<unsigned>(CPU_COUNT(&allowed));
  if (cores < 2) return cores;
  unsigned seen = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != rank) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
  }
  return cores;
}

// Memory that rank 0 makes and rank 1 opens: nameless, so nothing can stay behind.
struct Shared {
  raw::Line line;
  alignas(4096) unsigned char block[kBulk];
};

class Bench {
 public:
  Bench(bool quick, std::vector<std::string> only) : quick_(quick), only_(std::move(only)) {
    gaspi_rank_t rank = 0;
    REQUIRE(gaspi_proc_rank(&rank));
    first_ = rank == 0;
    cores_ = bind_to_core(rank);
    REQUIRE(gaspi_segment_create(0, kSegment, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
    gaspi_pointer_t pointer = nullptr;
    REQUIRE(gaspi_segment_ptr(0, &pointer));
    memory_ = static_cast<unsigned char*>(pointer);
    share_memory();
  }

  void measure() {
    if (first_) fmt::print("facts ranks 2 cores {} pinned {}\n", cores_, cores_ >= 2 ? 1 : 0);
    if (wants("gaspi.write_notify")) write_notify();
    if (wants("gaspi.write.1MiB")) write_bulk();
    if (wants("gaspi.barrier")) collective("gaspi.barrier", meet);
    if (wants("gaspi.allreduce.8"))
      collective("gaspi.allreduce.8", [] {
        double one = 1, sum = 0;
        REQUIRE(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL,
                                GASPI_BLOCK));
      });
  }

 private:
  bool wants(const std::string& name) const {
    return only_.empty() || std::find(only_.begin(), only_.end(), name) != only_.end();
  }
  unsigned repetitions() const { return quick_ ? 5 : 101; }
  void report(const char* name, double ours, std::optional<double> raw) const {
    if (!first_) return;
    fmt::print("{}\n", to_record({name, ours, raw, "", ""}));
    std::fflush(stdout);
  }

  void share_memory();
  double round_trips(uint64_t count);
  double bounces(uint64_t count);
  void write_notify();
  void write_bulk();
  template <typename Body>
  void collective(const char* name, Body&& body);

  bool quick_;
  std::vector<std::string> only_;
  bool first_ = false;
  unsigned cores_ = 1;
  unsigned char* memory_ = nullptr;
  Shared* shared_ = nullptr;
  uint64_t bounced_ = 0;
};

void Bench::share_memory() {
  struct Where {
    int pid, fd;
  } where{};
  int fd = -1;
  if (first_) {
    fd = memfd_create("causeway-bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0) require(GASPI_ERROR, "memfd_create");
    where = {getpid(), fd};
    std::memcpy(memory_, &where, sizeof where);
  }
  meet();
  if (!first_) {
    REQUIRE(gaspi_read(0, 0, 0, 0, 0, sizeof where, 0, GASPI_BLOCK));
    REQUIRE(gaspi_wait(0, GASPI_BLOCK));
    std::memcpy(&where, memory_, sizeof where);
    fd = open(fmt::format("/proc/{}/fd/{}", where.pid, where.fd).c_str(), O_RDWR | O_CLOEXEC);
  }
  void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) require(GASPI_ERROR, "mmap of the other rank's memory");
  shared_ = static_cast<Shared*>(at);
  meet();
  close(fd);
}

// Nanoseconds of 8 bytes and a notification there and back. gaspi_wait now and then, as programs
// have to, whose queues are finite.
double Bench::round_trips(uint64_t count) {
  constexpr uint64_t kBetweenWaits = 256;
  const gaspi_rank_t other = first_ ? 1 : 0;
  const auto send = [&] {
    REQUIRE(gaspi_write_notify(0, 0, other, 0, 64, 8, kNote, 1, 0, GASPI_BLOCK));
  };
  const auto take = [] {
    gaspi_notification_id_t found = 0;
    gaspi_notification_t value = 0;
    REQUIRE(gaspi_notify_waitsome(0, kNote, 1, &found, GASPI_BLOCK));
    REQUIRE(gaspi_notify_reset(0, found, &value));
  };
  meet();
  return elapsed_ns([&] {
           for (uint64_t i = 1; i <= count; ++i) {
             if (first_) send();
             take();
             if (!first_) send();
             if (i % kBetweenWaits == 0) REQUIRE(gaspi_wait(0, GASPI_BLOCK));
           }
           REQUIRE(gaspi_wait(0, GASPI_BLOCK));
         }) /
         static_cast<double>(count);
}

double Bench::bounces(uint64_t count) {
  const bool share = cores_ < 2;
  meet();
  const double elapsed = elapsed_ns([&] {
    if (first_) {
      raw::bounce_first(shared_->line, count, share);
    } else {
      raw::bounce_second(shared_->line, 2 * bounced_, count, share);
    }
  });
  bounced_ += count;
  return elapsed / static_cast<double>(count);
}

void Bench::write_notify() {
  const uint64_t count = cores_ < 2 ? 20 : quick_ ? 200 : 2000;
  const Comparison result = interleave(
      repetitions(), [&] { return round_trips(count); }, [&] { return bounces(count); });
  report("gaspi.write_notify", result.ours, result.raw);
}

void Bench::write_bulk() {
  meet();
  if (first_) {
    const auto ours = [] {
      return elapsed_ns([] {
        REQUIRE(gaspi_write(0, 4096, 1, 0, 4096 + kBulk, kBulk, 0, GASPI_BLOCK));
        REQUIRE(gaspi_wait(0, GASPI_BLOCK));
      });
    };
    const auto raw = [this] {
      return elapsed_ns([this] {
        std::memcpy(shared_->block, memory_ + 4096, kBulk);
        asm volatile("" : : "r"(shared_->block) : "memory");
      });
    };
    ours();  // pages are touched
    raw();
    const Comparison result = interleave(repetitions(), ours, raw);
    report("gaspi.write.1MiB", result.ours, result.raw);
  }
  meet();
}

template <typename Body>
void Bench::collective(const char* name, Body&& body) {
  const uint64_t count = cores_ < 2 ? 20 : 200;
  std::vector<double> times;
  for (unsigned i = 0; i < repetitions(); ++i) {
    meet();
    times.push_back(elapsed_ns([&] {
                      for (uint64_t turn = 0; turn < count; ++turn) body();
                    }) /
                    static_cast<double>(count));
  }
  report(name, median(std::move(times)), std::nullopt);
}

int run(int argc, char** argv) {
  bool quick = false;
  std::vector<std::string> only;
  CLI::App app{"A measuring program of `causeway bench`; start it through that"};
  app.add_option("--only", only, "Figures by name")->delimiter(',');
  app.add_flag("--quick", quick, "Few and short repetitions");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  REQUIRE(gaspi_proc_init(GASPI_BLOCK));
  gaspi_rank_t ranks = 0;
  REQUIRE(gaspi_proc_num(&ranks));
  if (ranks != 2) {
    fmt::print(stderr, "causeway-bench-gaspi: {} ranks; it measures two\n", ranks);
    return 2;
  }
  Bench(quick, only).measure();
  meet();
  REQUIRE(gaspi_proc_term(GASPI_BLOCK));
  return 0;
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  return causeway::bench::run(argc, argv);
}
