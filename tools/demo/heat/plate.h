// Plate: the points of one worker, their neighbors' rows, and checkpoints, all in segment 0 of
// every process. A segment has room for the whole plate, so that parts may grow.
#pragma once

#include <GASPI.h>

#include <cstddef>

#include "workers.h"

namespace heat {

// Rows first ... first + rows - 1 of the plate.
struct Part {
  size_t first = 0, rows = 0;
};

class Plate {
 public:
  explicit Plate(size_t size) : n_(size) {}

  size_t size() const { return n_; }
  Part part(unsigned worker, unsigned workers) const;

  // Makes the segment, and known to every worker.
  gaspi_return_t share(const Workers& workers);
  // The state at the beginning.
  void fill(const Part& part);

  // An iteration: neighbors' rows, then all points from iteration to iteration + 1.
  gaspi_return_t exchange(const Part& part, unsigned iteration, const Workers& workers);
  void step(const Part& part, unsigned iteration);
  // Neighbors' rows that nobody took.
  void forget_news();

  // Checkpoint number `number`: here, and with the next worker. The one before stays.
  gaspi_return_t save(const Part& part, unsigned iteration, unsigned number,
                      const Workers& workers);
  // The rows of `part` from checkpoint `number`, which `change.before` have written.
  gaspi_return_t restore(const Part& part, unsigned iteration, unsigned number,
                         const Workers& workers, const Workers::Change& change);

  // Sums of rows and the point in the middle, to the first worker, where sum() and middle() are
  // then.
  gaspi_return_t send_sums(const Part& part, unsigned iteration, const Workers& workers);
  double sum() const;
  double middle() const { return at(result_row())[n_]; }

 private:
  // Everything is rows of n_ doubles, from the beginning of the segment.
  size_t field_row(unsigned iteration) const { return iteration % 2 * (n_ + 2); }
  size_t saved_row(unsigned number) const { return 2 * (n_ + 2) + number % 2 * n_; }
  size_t copy_row(unsigned number) const { return saved_row(number) + 2 * n_; }
  size_t sums_row() const { return 2 * (n_ + 2) + 4 * n_; }
  size_t result_row() const { return sums_row() + 2; }
  size_t row_count() const { return result_row() + 2; }
  double* at(size_t row) const { return base_ + row * n_; }
  gaspi_offset_t offset(size_t row) const { return row * n_ * sizeof(double); }
  gaspi_return_t send_row(const Workers& workers, size_t from, unsigned to_worker, size_t to,
                          unsigned news, unsigned iteration);
  gaspi_return_t await_news(const Workers& workers, unsigned news, unsigned iteration);

  size_t n_;
  double* base_ = nullptr;
};

}  // namespace heat
