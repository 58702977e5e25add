// causeway-bench: the measuring program, a GASNet-EX client. `causeway bench` launches it and
// turns the records it prints into a table; see README.md for the records.
#include <fmt/format.h>

#include <cstdio>

#include "options/options.h"
#include "session.h"
#include "sweep.h"

namespace causeway::bench {

namespace {

constexpr size_t kPairSegment = 16 << 20;
constexpr size_t kSmallSegment = 1 << 20;

struct Wish : Wanted {
  std::string launch = "pair";
  std::string count_what;
  uint64_t count = 100000;
  unsigned cores = 0;
  std::string operation = "barrier";
  std::vector<size_t> sizes;
  double row_ns = 50e6;
};

std::optional<int> parse(int argc, char** argv, Wish& wish) {
  Options app("The measuring program of `causeway bench`; start it through that command");
  app.option("--launch", wish.launch, "Figures to measure")
      .one_of({"pair", "startup", "memory", "instructions", "collectives", "one-sided", "tune",
               "scale", "sweep"});
  wish.add_options(app);
  app.option("--count-what", wish.count_what, "Loop that callgrind counts");
  app.option("--count", wish.count, "Its turns");
  app.option("--operation", wish.operation, "Collective that is tuned");
  app.option("--sizes", wish.sizes, "Its sizes in bytes, or those of a sweep").commas();
  app.option("--row-ns", wish.row_ns, "Nanoseconds for each of them");
  app.option("--cores", wish.cores, "Use so many cores only; 0: all");
  return app.parse(argc, argv);
}

void print_job_facts(const Job& job) {
  const std::vector<uint64_t> pinned = job.gather(job.pinned() ? 1 : 0);
  if (!job.is_first()) return;
  uint64_t count = 0;
  for (const uint64_t one : pinned) count += one;
  print_facts(job.size(), job.cores(), count == job.size());
}

int run_sweep(Job& job, const Wish& wish) {
  job.map_shared();
  if (job.shared() == nullptr) {
    if (job.is_first())
      fmt::print(stderr, "causeway-bench: ranks cannot share memory through /proc/PID/fd\n");
    return 1;
  }
  print_job_facts(job);
  measure_sweep(job, wish.quick,
                {wish.only, wish.sizes, job.peer_is_direct() ? "direct" : "library"},
                *make_mapped_loops(job));
  return 0;
}

int run(Job& job, const Wish& wish) {
  Session session(job, wish);
  if (wish.launch == "startup") {
    measure_startup(session);
  } else if (wish.launch == "memory") {
    measure_memory(session);
  } else if (wish.launch == "scale") {
    measure_scale(session);
  } else if (wish.launch == "tune") {
    return run_tune(job, wish.operation, wish.sizes, wish.row_ns);
  } else if (wish.launch == "sweep") {
    return run_sweep(job, wish);
  } else if (wish.launch == "collectives") {
    print_job_facts(job);
    measure_beside_mpi(session);
  } else if (wish.launch == "one-sided") {
    print_job_facts(job);
    measure_one_sided(session);
  } else {
    if (job.size() < 2) {
      fmt::print(stderr, "causeway-bench: needs at least 2 ranks\n");
      return 1;
    }
    job.map_shared();
    if (job.shared() == nullptr) {
      if (job.is_first())
        fmt::print(stderr,
                   "causeway-bench: ranks cannot share memory through /proc/PID/fd; raw loops "
                   "between ranks are left out\n");
      if (wish.launch == "instructions") return 1;
    }
    if (wish.launch == "instructions") return run_counted(job, wish.count_what, wish.count);
    print_job_facts(job);
    measure_small_rma(session);
    measure_bulk_rma(session);
    measure_scattered(session);
    measure_messages(session);
    measure_barrier(session);
    measure_collectives(session);
  }
  return 0;
}

}  // namespace
}  // namespace causeway::bench

int main(int argc, char** argv) {
  using namespace causeway::bench;
  Wish wish;
  if (const auto status = parse(argc, argv, wish)) return *status;
  keep_cores(wish.cores);
  const bool pair = wish.launch == "pair" || wish.launch == "instructions" ||
                    wish.launch == "collectives" || wish.launch == "tune" ||
                    wish.launch == "one-sided";
  const bool sweep = wish.launch == "sweep";
  const size_t segment = sweep ? 2 * kSweepHalf : pair ? kPairSegment : kSmallSegment;
  Job job(&argc, &argv, segment, pair || sweep, wish.launch == "memory");
  const int status = run(job, wish);
  job.sync();
  gasnet_exit(status);
}
