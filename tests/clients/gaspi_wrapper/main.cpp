// A program of the library: heat in a rod, exchanged by notified writes; gathering by reads;
// work handed out by an atomic counter and reported by passive messages; sums in halves of the job.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "tide.hpp"

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

// The same rod, stepped by one process.
std::vector<double> alone(std::size_t cells, int steps) {
  std::vector<double> now(cells + 2), next;
  now[0] = 1.0;
  next = now;
  for (int step = 0; step < steps; ++step, now.swap(next))
    for (std::size_t i = 1; i <= cells; ++i)
      next[i] = 0.5 * now[i] + 0.25 * (now[i - 1] + now[i + 1]);
  return now;
}

// Two rows of cells in turn, each with a ghost at either end that a neighbor writes and notifies.
void heat() {
  const std::size_t mine = 40;
  const int steps = 30;
  const int me = tide::rank(), all = tide::ranks();
  const std::size_t row = mine + 2;
  const tide::Segment segment(2 * row * sizeof(double));
  const tide::Queue queue;
  double* const cells = segment.as<double>();
  if (me == 0) cells[0] = cells[row] = 1.0;
  tide::barrier();
  for (int step = 0; step < steps; ++step) {
    const std::size_t now = step % 2 * row, next = (step + 1) % 2 * row;
    const auto value = static_cast<gaspi_notification_t>(step + 1);
    const auto ids = static_cast<gaspi_notification_id_t>(step % 2 * 2);
    const auto at = [](std::size_t cell) { return cell * sizeof(double); };
    if (me > 0)
      segment.write_notify(at(now + 1), static_cast<gaspi_rank_t>(me - 1), at(now + mine + 1), 8,
                           ids, value, queue);
    if (me + 1 < all)
      segment.write_notify(at(now + mine), static_cast<gaspi_rank_t>(me + 1), at(now), 8, ids + 1,
                           value, queue);
    for (int wait = (me > 0) + (me + 1 < all); wait > 0; --wait)
      require(segment.wait_some(ids, 2).value == value, "a notification is of another step");
    for (std::size_t i = 1; i <= mine; ++i)
      cells[next + i] = 0.5 * cells[now + i] + 0.25 * (cells[now + i - 1] + cells[now + i + 1]);
    queue.wait();
  }
  const std::vector<double> whole = alone(mine * static_cast<std::size_t>(all), steps);
  tide::Place hottest{0, 0};
  for (std::size_t i = 1; i <= mine; ++i) {
    const std::size_t place = mine * static_cast<std::size_t>(me) + i;
    const double value = cells[steps % 2 * row + i];
    require(std::fabs(value - whole[place]) < 1e-14, "the rod is not as warm as it should be");
    if (value > hottest.value) hottest = {value, static_cast<long>(place)};
  }
  hottest = tide::all_largest(hottest);
  require(hottest.place == 1 && hottest.value == whole[1], "the hottest place is another");
  tide::barrier();
}

// Everybody reads every row of everybody, in more requests than a queue holds.
void gather() {
  const std::size_t words = 64;
  const std::size_t all = tide::ranks();
  const tide::Segment segment((all + 1) * words * sizeof(int));
  const tide::Queue queue;
  int* const data = segment.as<int>();
  for (std::size_t i = 0; i < words; ++i) data[i] = static_cast<int>(tide::rank() * words + i);
  tide::barrier();
  for (std::size_t from = 0; from < all; ++from)
    for (std::size_t i = 0; i < words; ++i)
      segment.read(((from + 1) * words + i) * sizeof(int), static_cast<gaspi_rank_t>(from),
                   i * sizeof(int), sizeof(int), queue);
  queue.wait();
  require(queue.size() == 0, "a queue that was waited for is not empty");
  std::vector<int> sums(words * 5);
  for (std::size_t i = 0; i < all * words; ++i) {
    require(data[words + i] == static_cast<int>(i), "what was read is something else");
    for (std::size_t copy = 0; copy < 5; ++copy) sums[copy * words + i % words] += data[words + i];
  }
  const std::vector<int> total = tide::all_reduce(sums, GASPI_OP_SUM);
  for (std::size_t i = 0; i < sums.size(); ++i)
    require(total[i] == static_cast<int>(all) * sums[i], "a long sum is wrong");
  tide::barrier();
}

// Elements of a list from two places to two places, and one notification for all.
void lists() {
  const tide::Segment segment(4096);
  const auto to = static_cast<gaspi_rank_t>((tide::rank() + 1) % tide::ranks());
  char* const bytes = segment.as<char>();
  std::memset(bytes, 1 + tide::rank(), 300);
  gaspi_segment_id_t ids[2] = {segment.id(), segment.id()};
  gaspi_offset_t from[2] = {0, 200}, there[2] = {1000, 3000};
  gaspi_size_t sizes[2] = {150, 100};
  tide::barrier();
  tide::check(gaspi_write_list_notify(2, ids, from, to, ids, there, sizes, segment.id(), 7, 70, 0,
                                      GASPI_BLOCK),
              "gaspi_write_list_notify");
  require(segment.wait_some(0, 10).value == 70, "a list's notification has another value");
  const char left = static_cast<char>(1 + (tide::rank() + tide::ranks() - 1) % tide::ranks());
  require(bytes[1000] == left && bytes[1149] == left && bytes[1150] == 0 && bytes[2999] == 0 &&
              bytes[3000] == left && bytes[3099] == left && bytes[3100] == 0,
          "a list's elements are elsewhere");
  tide::check(gaspi_wait(0, GASPI_BLOCK), "gaspi_wait");
  tide::barrier();
}

// A counter at rank 0 hands out work; what was done is reported to a thread of rank 0.
void work() {
  const gaspi_atomic_value_t amount = 40;
  const tide::Segment counter(sizeof(gaspi_atomic_value_t));
  const tide::Segment reports(2 * sizeof(unsigned long));
  unsigned long reported = 0;
  std::unique_ptr<std::thread> receiver;
  if (tide::rank() == 0)
    receiver.reset(new std::thread([&] {
      for (int left = tide::ranks() - 1; left > 0; --left) {
        gaspi_rank_t from;
        if (gaspi_passive_receive(reports.id(), sizeof reported, &from, sizeof reported,
                                  GASPI_BLOCK) != GASPI_SUCCESS)
          return;
        reported += reports.as<unsigned long>()[1];
      }
    }));
  unsigned long done = 0;
  for (;;) {
    gaspi_atomic_value_t item;
    tide::check(gaspi_atomic_fetch_add(counter.id(), 0, 0, 1, &item, GASPI_BLOCK),
                "gaspi_atomic_fetch_add");
    if (item >= amount) break;
    done += item;
  }
  if (tide::rank() == 0) {
    receiver->join();
    require(done + reported == amount * (amount - 1) / 2, "work was lost or done twice");
  } else {
    reports.as<unsigned long>()[0] = done;
    tide::check(gaspi_passive_send(reports.id(), 0, 0, sizeof done, GASPI_BLOCK),
                "gaspi_passive_send");
  }
  tide::barrier();
}

void halves() {
  std::vector<gaspi_rank_t> mine;
  for (gaspi_rank_t rank = tide::rank() % 2; rank < tide::ranks(); rank += 2) mine.push_back(rank);
  const tide::Group half(mine);
  require(half.members() == mine, "a group has other members");
  unsigned long expected = 0;
  for (gaspi_rank_t rank : mine) expected += 1ul << rank;
  for (int turn = 0; turn < 5; ++turn) {
    tide::barrier(half.id());
    const std::vector<unsigned long> sum =
        tide::all_reduce<unsigned long>({1ul << tide::rank(), 1}, GASPI_OP_SUM, half.id());
    require(sum[0] == expected && sum[1] == mine.size(), "a group's sum is wrong");
    const std::vector<double> most =
        tide::all_reduce<double>({-1.0 * tide::rank()}, GASPI_OP_MAX, half.id());
    require(most[0] == -1.0 * mine.front(), "a group's maximum is wrong");
  }
  tide::barrier();
}

// A call that fails throws an exception that says why.
void errors() {
  const tide::Segment segment(64);
  const tide::Queue queue;
  try {
    segment.write(0, tide::ranks(), 0, 8, queue);
    require(false, "a rank that does not exist is written to");
  } catch (const tide::Error& error) {
    require(error.code() == GASPI_ERR_INV_RANK && std::strlen(error.what()) > 15,
            "no reason is given");
  }
  try {
    segment.write(60, 0, 0, 8, queue);
    require(false, "a segment is left");
  } catch (const tide::Error& error) {
    require(error.code() == GASPI_ERR_INV_LOC_OFF, "another error than of the offset");
  }
  tide::barrier();
}

gaspi_config_t small_queues(gaspi_config_t config) {
  config.queue_size_max = 32;
  return config;
}

}  // namespace

int main() {
  const tide::Runtime runtime(small_queues);
  try {
    heat();
    gather();
    lists();
    work();
    halves();
    errors();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", static_cast<int>(tide::rank()), error.what());
    std::_Exit(1);  // the others wait for this rank: the launcher ends them
  }
  std::printf("rank %d of %d: ok\n", static_cast<int>(tide::rank()),
              static_cast<int>(tide::ranks()));
  return 0;
}
