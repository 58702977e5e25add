// A notification that comes while its receiver sleeps. Rank 0 notifies rank 1 after 20 to 45 ms,
// with the time in the data, and sends nothing else until rank 1 has answered: any message would
// wake it. Rank 1 has gone to sleep by then, and says how late it woke. With the argument "bound"
// the memory is the program's.
#include <GASPI.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr unsigned kRounds = 32;
constexpr gaspi_notification_id_t kNote = 7, kAnswer = 8;
// Half of what a receiver is late, if it wakes when its nap of 20 ms is over (the longest of shm).
constexpr double kLate_ms = 5;

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

void must(gaspi_return_t result, const char* call) {
  if (result == GASPI_SUCCESS) return;
  std::printf("%s: %d\n", call, result);
  std::exit(1);
}

void take(gaspi_notification_id_t id) {
  gaspi_notification_id_t found = 0;
  gaspi_notification_t value = 0;
  must(gaspi_notify_waitsome(0, 0, 100, &found, GASPI_BLOCK), "waitsome");
  must(gaspi_notify_reset(0, found, &value), "reset");
  if (found != id || value != 1) std::exit(1);
}

void notify(unsigned round, double* when) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20 + round * 7 % 26));
  *when = now_ms();
  if (round % 2 == 0) {
    must(gaspi_write_notify(0, 0, 1, 0, 0, sizeof *when, kNote, 1, 0, GASPI_BLOCK), "write_notify");
  } else {
    must(gaspi_write(0, 0, 1, 0, 0, sizeof *when, 0, GASPI_BLOCK), "write");
    must(gaspi_notify(0, 1, kNote, 1, 0, GASPI_BLOCK), "notify");
  }
  must(gaspi_wait(0, GASPI_BLOCK), "wait");
  take(kAnswer);
}

double be_notified(const double* when) {
  take(kNote);
  const double late = now_ms() - *when;
  must(gaspi_notify(0, 0, kAnswer, 1, 0, GASPI_BLOCK), "notify");
  must(gaspi_wait(0, GASPI_BLOCK), "wait");
  return late;
}

}  // namespace

int main(int argc, char** argv) {
  alignas(64) static std::array<double, 8> own;
  must(gaspi_proc_init(GASPI_BLOCK), "proc_init");
  gaspi_rank_t rank = 0;
  must(gaspi_proc_rank(&rank), "proc_rank");
  if (argc > 1 && std::strcmp(argv[1], "bound") == 0)
    must(gaspi_segment_use(0, own.data(), sizeof own, GASPI_GROUP_ALL, GASPI_BLOCK, 0), "use");
  else
    must(gaspi_segment_create(0, sizeof own, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED),
         "create");
  gaspi_pointer_t memory = nullptr;
  must(gaspi_segment_ptr(0, &memory), "ptr");
  std::array<double, kRounds> late{};
  for (unsigned round = 0; round < kRounds; ++round) {
    must(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), "barrier");
    if (rank == 0) notify(round, static_cast<double*>(memory));
    if (rank == 1) late[round] = be_notified(static_cast<double*>(memory));
  }
  std::sort(late.begin(), late.end());
  const double median = late[kRounds / 2];
  if (rank == 1) std::printf("late by %.3f ms, median\n", median);
  must(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), "barrier");
  must(gaspi_proc_term(GASPI_BLOCK), "proc_term");
  return median < kLate_ms ? 0 : 1;
}
