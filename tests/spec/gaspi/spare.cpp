// Replacement of failed processes (GASPI 17.1, 5.3.1 and 6.1): a rank kills itself, a spare takes
// its place, and all go on. Started with `causeway run --on-failure=continue --spares N`.
//
//   spec_gaspi_spare replaced N           N times in turn; ranks 1, 0, 1, 0 ... fail
//   spec_gaspi_spare exhausted N          then once more: there is no spare left
//   spec_gaspi_spare joining N FILE USEC  once, and the first spare dies too, so many microseconds
//                                         after the rank has; N: ranks of the job
//   spec_gaspi_spare portions N           as replaced, with gaspi_proc_init in portions of 5 ms
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "survivors.h"

using namespace spec;

namespace {

gaspi_pointer_t base;

constexpr size_t kSegment = 1u << 16;

unsigned corrupt_ranks() {
  const std::vector<gaspi_state_t> now = states();
  return static_cast<unsigned>(std::count(now.begin(), now.end(), GASPI_STATE_CORRUPT));
}

gaspi_rank_t victim_of(unsigned round) {
  return static_cast<gaspi_rank_t>(round % 2 == 0 ? 1 : 0);
}

gaspi_return_t try_agree(unsigned value, gaspi_operation_t operation, unsigned* result) {
  return in_portions([&](gaspi_timeout_t t) {
    return gaspi_allreduce(&value, result, 1, operation, GASPI_TYPE_UINT, GASPI_GROUP_ALL, t);
  });
}

unsigned agree(unsigned value, gaspi_operation_t operation) {
  unsigned result = 0;
  REQUIRE(try_agree(value, operation, &result) == GASPI_SUCCESS);
  return result;
}

// Held by who is about to die, and by who has taken part in a commit and must not any more: from
// then on the others count on it.
std::mutex death_mutex;
bool spared = false;

// False: somebody fails now, or has since.
bool meet_all() {
  for (gaspi_rank_t r = 0; r < all; ++r) {
    if (in_portions([&](gaspi_timeout_t t) { return gaspi_connect(r, t); }) != GASPI_SUCCESS ||
        in_portions([&](gaspi_timeout_t t) { return gaspi_segment_register(0, r, t); }) !=
            GASPI_SUCCESS)
      return false;
  }
  return true;
}

// Everybody, old and new: until all are there, the group is committed and the segments are known.
// Returns the round that the old ones are in.
unsigned recover(unsigned round) {
  const double end = seconds_now() + kPatience;
  while (seconds_now() < end) {
    // GASPI_ERROR: somebody is not there yet, or fails now.
    while (corrupt_ranks() != 0 && seconds_now() < end) ::usleep(1000);
    if (gaspi_group_commit(GASPI_GROUP_ALL, kPortion) != GASPI_SUCCESS) continue;
    {
      const std::lock_guard lock(death_mutex);
      spared = true;
    }
    unsigned agreed = 0;
    if (meet_all() && try_agree(round, GASPI_OP_MAX, &agreed) == GASPI_SUCCESS) return agreed;
  }
  REQUIRE(!"all are there and the group is committed");
  return 0;
}

void pass_round(unsigned round) {
  const auto next = static_cast<gaspi_rank_t>((me + 1) % all);
  const auto behind = static_cast<gaspi_rank_t>((me + all - 1) % all);
  char* const bytes = static_cast<char*>(base);
  // Small and large, one after the other: a message, and a put with a notification behind it.
  for (const gaspi_size_t size : {gaspi_size_t{8}, gaspi_size_t{20000}}) {
    std::memset(bytes, static_cast<int>(16 * round + me + 1), size);
    REQUIRE(gaspi_write_notify(0, 0, next, 0, 30000, size, 5, round + 1, 0, 60000) ==
            GASPI_SUCCESS);
    REQUIRE(take_note(0, 5) == round + 1);
    REQUIRE(bytes[30000 + size - 1] == static_cast<char>(16 * round + behind + 1));
    REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_wait(0, t); }) == GASPI_SUCCESS);
    REQUIRE(agree(1, GASPI_OP_SUM) == all);
  }
}

void work(unsigned round) {
  pass_round(round);
  // Atomics on a word of rank 0, which may be new: relative to what is there.
  gaspi_atomic_value_t before = 0, old = 0, after = 0;
  constexpr gaspi_offset_t kWord = 60000;
  REQUIRE(gaspi_atomic_fetch_add(0, kWord, 0, 0, &before, 60000) == GASPI_SUCCESS);
  REQUIRE(agree(1, GASPI_OP_SUM) == all);
  for (int i = 0; i < 20; ++i)
    REQUIRE(gaspi_atomic_fetch_add(0, kWord, 0, 1, &old, 60000) == GASPI_SUCCESS);
  REQUIRE(agree(1, GASPI_OP_SUM) == all);
  REQUIRE(gaspi_atomic_fetch_add(0, kWord, 0, 0, &after, 60000) == GASPI_SUCCESS);
  REQUIRE(after - before == 20ul * all);
  REQUIRE(agree(1, GASPI_OP_SUM) == all);
  // Passive: everybody else to rank 1.
  if (me == 1) {
    for (gaspi_rank_t r = 1; r < all; ++r) {
      gaspi_rank_t from = 0;
      REQUIRE(gaspi_passive_receive(0, 50000, &from, 8, 60000) == GASPI_SUCCESS);
    }
  } else {
    REQUIRE(gaspi_passive_send(0, 0, 1, 8, 60000) == GASPI_SUCCESS);
  }
}

// The others, until they notice.
void meet_failure(unsigned round, gaspi_queue_id_t queues) {
  const gaspi_rank_t victim = victim_of(round);
  REQUIRE(gaspi_notify(0, victim, 100u + me, 1, 0, 60000) == GASPI_SUCCESS);
  REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_barrier(GASPI_GROUP_ALL, t); }) ==
          GASPI_ERROR);
  // With none, the post succeeds and the wait does not; the next process has no segment yet.
  const gaspi_return_t posted = gaspi_write(0, 0, victim, 0, 0, 8, 0, 1000);
  REQUIRE(posted == GASPI_ERR_INV_SEG || posted == GASPI_SUCCESS);
  if (posted == GASPI_SUCCESS) REQUIRE(gaspi_wait(0, 1000) == GASPI_ERROR);
  for (gaspi_queue_id_t q = 0; q < queues; ++q)
    REQUIRE(in_portions([q](gaspi_timeout_t t) { return gaspi_queue_purge(q, t); }) ==
            GASPI_SUCCESS);
}

// What is left when no spare is: the group of the survivors.
void go_on_without(gaspi_rank_t victim) {
  const double end = seconds_now() + 1;
  while (seconds_now() < end) {
    REQUIRE(corrupt_ranks() <= 1);
    ::usleep(20000);
  }
  REQUIRE(corrupt_ranks() == 1);
  REQUIRE(gaspi_group_commit(GASPI_GROUP_ALL, kPortion) == GASPI_ERROR);
  const gaspi_group_t rest = group_without(victim);
  REQUIRE(in_portions([&](gaspi_timeout_t t) { return gaspi_group_commit(rest, t); }) ==
          GASPI_SUCCESS);
  REQUIRE(in_portions([&](gaspi_timeout_t t) { return gaspi_barrier(rest, t); }) == GASPI_SUCCESS);
}

void start(bool portions) {
  const gaspi_return_t result =
      portions ? [] {
        gaspi_return_t r;
        do {
          r = gaspi_proc_init(5);
        } while (r == GASPI_TIMEOUT);  // a spare waits until the launcher ends it
        return r;
      }()
               : gaspi_proc_init(GASPI_BLOCK);
  REQUIRE(result == GASPI_SUCCESS);
  introduce_oneself();
  gaspi_number_t none = 0;
  REQUIRE(gaspi_proc_incarnation(all, &none) == GASPI_ERR_INV_RANK);
  REQUIRE(gaspi_proc_incarnation(me, nullptr) == GASPI_ERR_NULLPTR);
}

// Dies, a while after the file has appeared, unless it has joined by then.
void die_after(const std::string& file, long usec) {
  std::thread([file, usec] {
    struct stat s {};
    while (::stat(file.c_str(), &s) != 0) ::usleep(100);
    ::usleep(static_cast<useconds_t>(usec));
    const std::lock_guard lock(death_mutex);
    if (!spared) ::raise(SIGKILL);
  }).detach();
}

bool is_first_spare(unsigned ranks) {
  const char* number = std::getenv("PMIX_RANK");
  return number != nullptr && std::strtoul(number, nullptr, 10) == ranks;
}

struct Plan {
  std::string what;
  unsigned rounds = 1;
  std::string file;
};

// Not before all others are done with the round: what they wait for would die with it.
void await_others() {
  for (gaspi_rank_t r = 0; r < all; ++r)
    if (r != me) REQUIRE(take_note(0, 100u + r) == 1);
}

void die(const Plan& plan) {
  await_others();
  if (!plan.file.empty()) std::ofstream(plan.file) << "dead\n";
  ::raise(SIGKILL);
}

void live(const Plan& plan) {
  start(plan.what == "portions");
  gaspi_number_t queues = 0;
  REQUIRE(gaspi_queue_num(&queues) == GASPI_SUCCESS);
  unsigned round = 0;
  const bool is_new = own_incarnation > 1;
  if (is_new) {
    // The group is another one for those who were in it before.
    REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST) == GASPI_ERR_INV_GROUP);
    REQUIRE(gaspi_segment_alloc(0, kSegment, GASPI_MEM_INITIALIZED) == GASPI_SUCCESS);
    REQUIRE(gaspi_segment_ptr(0, &base) == GASPI_SUCCESS);
    round = recover(0);
  } else {
    REQUIRE(gaspi_segment_create(0, kSegment, GASPI_GROUP_ALL, GASPI_BLOCK,
                                 GASPI_MEM_INITIALIZED) == GASPI_SUCCESS);
    REQUIRE(gaspi_segment_ptr(0, &base) == GASPI_SUCCESS);
    std::memset(static_cast<char*>(base) + 55000, 'k', 100);
  }
  for (;; ++round) {
    work(round);
    if (!is_new) REQUIRE(static_cast<char*>(base)[55099] == 'k');  // data is kept
    const bool last = round == plan.rounds;
    if (last && plan.what != "exhausted") break;
    if (me == victim_of(round)) die(plan);
    meet_failure(round, static_cast<gaspi_queue_id_t>(queues));
    if (last) return go_on_without(victim_of(round));
    recover(round + 1);
    gaspi_number_t incarnation = 0;
    REQUIRE(gaspi_proc_incarnation(victim_of(round), &incarnation) == GASPI_SUCCESS);
    REQUIRE(incarnation > 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (argc > 1) plan.what = argv[1];
  const unsigned number = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  if (plan.what == "joining") {
    plan.file = argv[3];
    if (is_first_spare(number)) die_after(plan.file, std::atol(argv[4]));
  } else {
    plan.rounds = number;
  }
  live(plan);
  REQUIRE(in_portions([](gaspi_timeout_t t) { return gaspi_proc_term(t); }) == GASPI_SUCCESS);
  // The lowest rank that is there says so.
  if (me == (plan.what == "exhausted" && victim_of(plan.rounds) == 0 ? 1 : 0))
    std::printf("%s: well\n", plan.what.c_str());
  return 0;
}
