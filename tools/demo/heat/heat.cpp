// heat: heat in a square plate, by Jacobi's method in blocks of rows, on processes that may fail.
//
// Each worker keeps a checkpoint of its rows in its own memory and in that of the worker behind it.
// When a process fails, all go back to the last checkpoint: with the spare that takes its rank
// (causeway run --spares N), or, with --shrink, as so many fewer workers. The new value of a point
// depends on its neighbors alone, so the answer is the same to the last bit.
#include <GASPI.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "options.h"
#include "plate.h"
#include "workers.h"

namespace heat {
namespace {

// A process failed: what was under way is to be given up.
struct Failed {};

void require(gaspi_return_t result) {
  if (result != GASPI_SUCCESS) throw Failed{};
}

class Solver {
 public:
  explicit Solver(const Options& options)
      : options_(options), plate_(options.size), workers_(options.shrink) {}

  void run() {
    for (;;) {
      try {
        come_together();
        compute();
        return answer();
      } catch (const Failed&) {
        workers_.give_up();
      }
    }
  }

 private:
  // At the beginning and after each failure: until all who go on are together, with the state of
  // the last checkpoint.
  void come_together() {
    workers_.regroup();
    require(plate_.share(workers_));
    // Where one worker has passed the barrier behind a checkpoint, all have written it.
    number_ = completed_;
    require(workers_.highest(&number_));
    const Saved& own = saved_[number_ % 2];
    const bool wrote = own.number == number_;
    iteration_ = wrote ? own.iteration : 0;
    require(workers_.highest(&iteration_));
    part_ = plate_.part(workers_.index(), workers_.count());
    if (number_ == 0) {
      plate_.fill(part_);
    } else {
      const Workers::Change change =
          workers_.change_since(wrote ? own.ranks : workers_.ranks(), !wrote);
      require(plate_.restore(part_, iteration_, number_, workers_, change));
    }
    tell();
    // Others read checkpoints until here, and rows of before are on their way no more.
    require(workers_.barrier());
    plate_.forget_news();
    require(workers_.barrier());
    save();
  }

  void tell() const {
    if (workers_.index() != 0) return;
    if (number_ == 0) std::printf("# %u workers begin\n", workers_.count());
    if (number_ != 0)
      std::printf("# %u workers go on from iteration %u\n", workers_.count(), iteration_);
    std::fflush(stdout);
  }

  void save() {
    ++number_;
    saved_[number_ % 2] = {number_, iteration_, workers_.ranks()};
    require(plate_.save(part_, iteration_, number_, workers_));
    require(workers_.barrier());
    completed_ = number_;
  }

  void compute() {
    while (iteration_ < options_.iterations) {
      if (iteration_ % options_.every == 0 && iteration_ != saved_[number_ % 2].iteration) save();
      if (workers_.dies_at(options_, iteration_)) ::raise(SIGKILL);
      require(plate_.exchange(part_, iteration_, workers_));
      plate_.step(part_, iteration_);
      ++iteration_;
      if (options_.pause_us != 0) ::usleep(options_.pause_us);
    }
  }

  // The first worker adds the sums of rows in their order, whoever had them.
  void answer() {
    require(plate_.send_sums(part_, iteration_, workers_));
    require(workers_.barrier());
    if (workers_.index() != 0) return;
    std::printf("%zu x %zu points after %u iterations: sum %.17g, middle %.17g\n", plate_.size(),
                plate_.size(), iteration_, plate_.sum(), plate_.middle());
    std::fflush(stdout);
  }

  // The parts of the two last checkpoints that this worker has written.
  struct Saved {
    unsigned number = 0, iteration = 0;
    std::vector<gaspi_rank_t> ranks;
  };
  const Options& options_;
  Plate plate_;
  Workers workers_;
  Part part_;
  unsigned iteration_ = 0;
  unsigned number_ = 0;     // of the checkpoint written last
  unsigned completed_ = 0;  // of the last one that all have written, as far as is known here
  Saved saved_[2];
};

}  // namespace
}  // namespace heat

int main(int argc, char** argv) {
  heat::Options options;
  if (!options.parse(argc, argv)) return 2;
  if (gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS) return 1;
  {
    heat::Solver solver(options);
    solver.run();
  }
  return gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS ? 0 : 1;
}
