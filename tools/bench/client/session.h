// A run of the measuring program: what is asked for, and where results go.
#pragma once

#include <sched.h>

#include <atomic>
#include <utility>

#include "job.h"
#include "measure.h"
#include "wanted.h"

namespace causeway::bench {

class Session {
 public:
  Session(Job& job, Wanted wanted) : job_(job), wanted_(std::move(wanted)) {}

  Job& job() { return job_; }
  bool quick() const { return wanted_.quick; }
  unsigned repetitions() const { return quick() ? 5 : 101; }
  // How long one repetition of a loop should last: long against the clock's own cost, short
  // against the scheduler's slices and changes of clock rate.
  double aim_ns() const { return quick() ? 20e3 : 300e3; }

  bool wants(std::string_view name) const { return wanted_.has(name); }
  // Prints the record; on rank 0 only.
  void report(const Measured& measured) {
    if (job_.is_first() && wants(measured.name)) print_record(measured);
  }

 private:
  Job& job_;
  Wanted wanted_;
};

// Nanoseconds of one of `count` operations of the first rank. The second one is told of their end
// by a flag that the library has no part in, and gives way as often on every side: where the kernel
// carries the data it needs processors too. Collective; `phase` is another one each time.
template <class First, class Second>
double told_series(const Job& job, uint64_t phase, uint64_t count, First&& first, Second&& second) {
  std::atomic<uint64_t>& ended = job.shared()->line.turn;
  double elapsed = 0;
  if (job.is_first()) {
    elapsed = elapsed_ns(first);
    ended.store(phase, std::memory_order_release);  // releases nothing but the other's loop
  } else if (job.is_second()) {
    const uint32_t looks = job.oversubscribed() ? 16 : 1000;
    uint32_t turn = 0;
    second([&] {
      if (++turn % looks == 0) sched_yield();
      return ended.load(std::memory_order_acquire) == phase;
    });
  }
  job.sync();
  return elapsed / static_cast<double>(count);
}

void measure_small_rma(Session& session);
void measure_bulk_rma(Session& session);
void measure_scattered(Session& session);
void measure_messages(Session& session);
void measure_barrier(Session& session);
void measure_collectives(Session& session);
void measure_beside_mpi(Session& session);
void measure_one_sided(Session& session);
void measure_startup(Session& session);
void measure_memory(Session& session);
void measure_scale(Session& session);
// Measures one collective at each size for about `row_ns`, and prints a line each.
int run_tune(Job& job, const std::string& operation, const std::vector<size_t>& sizes,
             double row_ns);
// Runs the one loop named `what` so that callgrind can count its instructions.
int run_counted(Job& job, const std::string& what, uint64_t count);

}  // namespace causeway::bench
