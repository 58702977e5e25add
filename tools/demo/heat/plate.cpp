#include "plate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heat {
namespace {

constexpr gaspi_segment_id_t kSegment = 0;
constexpr gaspi_queue_id_t kQueue = 0;

// Notifications: a row from above or below, for an even or odd iteration. A neighbor is at most one
// iteration ahead.
unsigned from_above(unsigned iteration) {
  return iteration % 2 * 2;
}
unsigned from_below(unsigned iteration) {
  return from_above(iteration) + 1;
}
constexpr gaspi_number_t kNews = 4;

gaspi_return_t empty_queue(const Workers& workers) {
  return workers.patiently([](gaspi_timeout_t t) { return gaspi_wait(kQueue, t); });
}

}  // namespace

Part Plate::part(unsigned worker, unsigned workers) const {
  const size_t first = n_ * worker / workers;
  return {first, n_ * (worker + 1) / workers - first};
}

gaspi_return_t Plate::share(const Workers& workers) {
  if (base_ == nullptr) {
    const gaspi_return_t made =
        gaspi_segment_alloc(kSegment, offset(row_count()), GASPI_MEM_INITIALIZED);
    if (made != GASPI_SUCCESS) return made;
    gaspi_pointer_t pointer = nullptr;
    gaspi_segment_ptr(kSegment, &pointer);
    base_ = static_cast<double*>(pointer);
  }
  for (const gaspi_rank_t r : workers.ranks()) {
    const gaspi_return_t known = workers.patiently(
        [r](gaspi_timeout_t t) { return gaspi_segment_register(kSegment, r, t); });
    if (known != GASPI_SUCCESS) return known;
  }
  return workers.barrier();
}

// The upper edge is hot, and stays so; a warm square lies off the middle.
void Plate::fill(const Part& part) {
  for (size_t i = 0; i < part.rows; ++i) {
    const size_t row = part.first + i;
    for (size_t j = 0; j < n_; ++j) {
      const bool square = row > n_ / 2 && row < 3 * n_ / 4 && j > n_ / 4 && j < n_ / 2;
      at(field_row(0) + 1 + i)[j] = row == 0 ? 100.0 : square ? 75.0 : 0.0;
    }
  }
}

gaspi_return_t Plate::send_row(const Workers& workers, size_t from, unsigned to_worker, size_t to,
                               unsigned news, unsigned iteration) {
  return workers.patiently([&](gaspi_timeout_t t) {
    return gaspi_write_notify(kSegment, offset(from), workers.rank_of(to_worker), kSegment,
                              offset(to), offset(1), news, iteration + 1, kQueue, t);
  });
}

gaspi_return_t Plate::await_news(const Workers& workers, unsigned news, unsigned iteration) {
  for (;;) {
    const gaspi_return_t came = workers.patiently([&](gaspi_timeout_t t) {
      gaspi_notification_id_t found = 0;
      return gaspi_notify_waitsome(kSegment, news, 1, &found, t);
    });
    if (came != GASPI_SUCCESS) return came;
    gaspi_notification_t value = 0;
    gaspi_notify_reset(kSegment, news, &value);
    if (value == iteration + 1) return GASPI_SUCCESS;
  }
}

gaspi_return_t Plate::exchange(const Part& part, unsigned iteration, const Workers& workers) {
  const unsigned own = workers.index(), count = workers.count();
  const size_t field = field_row(iteration);
  gaspi_return_t result = GASPI_SUCCESS;
  if (own > 0) {
    const size_t below = field + this->part(own - 1, count).rows + 1;
    result = send_row(workers, field + 1, own - 1, below, from_below(iteration), iteration);
  }
  if (result == GASPI_SUCCESS && own + 1 < count)
    result = send_row(workers, field + part.rows, own + 1, field, from_above(iteration), iteration);
  if (result == GASPI_SUCCESS && own > 0)
    result = await_news(workers, from_above(iteration), iteration);
  if (result == GASPI_SUCCESS && own + 1 < count)
    result = await_news(workers, from_below(iteration), iteration);
  return result == GASPI_SUCCESS ? empty_queue(workers) : result;
}

void Plate::step(const Part& part, unsigned iteration) {
  for (size_t i = 0; i < part.rows; ++i) {
    const double* const here = at(field_row(iteration) + 1 + i);
    double* const next = at(field_row(iteration + 1) + 1 + i);
    const size_t row = part.first + i;
    if (row == 0 || row == n_ - 1) {
      std::memcpy(next, here, n_ * sizeof(double));
      continue;
    }
    next[0] = here[0];
    next[n_ - 1] = here[n_ - 1];
    const double* const above = here - n_;
    const double* const below = here + n_;
    for (size_t j = 1; j + 1 < n_; ++j)
      next[j] = 0.25 * ((above[j] + below[j]) + (here[j - 1] + here[j + 1]));
  }
}

void Plate::forget_news() {
  for (gaspi_notification_id_t id = 0; id < kNews; ++id) {
    gaspi_notification_t value = 0;
    gaspi_notify_reset(kSegment, id, &value);
  }
}

gaspi_return_t Plate::save(const Part& part, unsigned iteration, unsigned number,
                           const Workers& workers) {
  const size_t bytes = offset(part.rows);
  std::memcpy(at(saved_row(number)), at(field_row(iteration) + 1), bytes);
  if (workers.count() == 1 || bytes == 0) return GASPI_SUCCESS;
  const gaspi_rank_t keeper = workers.rank_of((workers.index() + 1) % workers.count());
  const gaspi_return_t sent = workers.patiently([&](gaspi_timeout_t t) {
    return gaspi_write(kSegment, offset(saved_row(number)), keeper, kSegment,
                       offset(copy_row(number)), bytes, kQueue, t);
  });
  return sent == GASPI_SUCCESS ? empty_queue(workers) : sent;
}

gaspi_return_t Plate::restore(const Part& part, unsigned iteration, unsigned number,
                              const Workers& workers, const Workers::Change& change) {
  const auto count = static_cast<unsigned>(change.before.size());
  if (change.kept.size() != count) return GASPI_ERROR;
  for (unsigned w = 0; w < count; ++w) {
    const Part old = this->part(w, count);
    const size_t first = std::max(old.first, part.first);
    const size_t end = std::min(old.first + old.rows, part.first + part.rows);
    if (first >= end) continue;
    const unsigned keeper = change.kept[w] ? w : (w + 1) % count;
    if (!change.kept[keeper]) {
      std::fprintf(stderr, "heat: workers %u and %u failed together; their rows are lost\n", w,
                   keeper);
      std::exit(1);
    }
    const size_t from = (keeper == w ? saved_row(number) : copy_row(number)) + first - old.first;
    const gaspi_return_t read = workers.patiently([&](gaspi_timeout_t t) {
      return gaspi_read(kSegment, offset(field_row(iteration) + 1 + first - part.first),
                        change.before[keeper], kSegment, offset(from), offset(end - first), kQueue,
                        t);
    });
    if (read != GASPI_SUCCESS) return read;
  }
  return empty_queue(workers);
}

gaspi_return_t Plate::send_sums(const Part& part, unsigned iteration, const Workers& workers) {
  // Here: the sums of the part's rows and, behind a row's length, the middle.
  double* const own = at(sums_row());
  for (size_t i = 0; i < part.rows; ++i) {
    const double* const row = at(field_row(iteration) + 1 + i);
    own[i] = 0;
    for (size_t j = 0; j < n_; ++j) own[i] += row[j];
    if (part.first + i == n_ / 2) own[n_] = row[n_ / 2];
  }
  const auto send = [&](size_t from, size_t to, size_t doubles) {
    return workers.patiently([&](gaspi_timeout_t t) {
      return gaspi_write(kSegment, offset(sums_row()) + from * sizeof(double), workers.rank_of(0),
                         kSegment, offset(result_row()) + to * sizeof(double),
                         doubles * sizeof(double), kQueue, t);
    });
  };
  gaspi_return_t sent = part.rows == 0 ? GASPI_SUCCESS : send(0, part.first, part.rows);
  const bool has_middle = part.first <= n_ / 2 && n_ / 2 < part.first + part.rows;
  if (sent == GASPI_SUCCESS && has_middle) sent = send(n_, n_, 1);
  return sent == GASPI_SUCCESS ? empty_queue(workers) : sent;
}

double Plate::sum() const {
  double total = 0;
  for (size_t i = 0; i < n_; ++i) total += at(result_row())[i];
  return total;
}

}  // namespace heat
