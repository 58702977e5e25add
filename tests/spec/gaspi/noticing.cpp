// A rank that waits for a process that dies notices it, whatever call it waits in, and a rank that
// posts to one that is known to be dead is told by gaspi_wait. Started with `causeway run
// --on-failure=continue`, or under another launcher that lets the others live.
//
//   spec_gaspi_noticing barrier|allreduce|commit|create|waitsome|posts
//   spec_gaspi_noticing unconnected      a barrier of processes that are not connected yet
//
// Catches: a wait that goes on until its time is up, or until somebody writes to the dead process;
// a thread that is told twice, or not because another one was; a post to a dead process that is
// refused, or whose gaspi_wait() succeeds; a queue that serves nobody afterwards.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "survivors.h"

using namespace spec;

namespace {

constexpr gaspi_rank_t kVictim = 1;
constexpr gaspi_timeout_t kTimeout = 30000;
constexpr double kSoon = 10;  // seconds: a third of that, and long for a busy machine

void start(gaspi_number_t topology = GASPI_TOPOLOGY_STATIC) {
  gaspi_config_t config;
  REQUIRE(gaspi_config_get(&config) == GASPI_SUCCESS);
  config.build_infrastructure = topology;
  REQUIRE(gaspi_config_set(config) == GASPI_SUCCESS);
  REQUIRE(gaspi_proc_init(GASPI_BLOCK) == GASPI_SUCCESS);
  introduce_oneself();
}

void create_segment() {
  REQUIRE(gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED) ==
          GASPI_SUCCESS);
  REQUIRE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_SUCCESS);
}

void die_if_victim() {
  if (me != kVictim) return;
  ::usleep(300000);  // the others wait by now
  ::raise(SIGKILL);
}

// The call comes back soon, with an error.
void expect_noticed(const std::function<gaspi_return_t()>& call) {
  const double began = seconds_now();
  EXPECT(call() == GASPI_ERROR);
  const double took = seconds_now() - began;
  EXPECT(took < kSoon);
  std::printf("rank %u: noticed after %.2f s\n", me, took);
}

gaspi_return_t wait_for_any_note(gaspi_timeout_t timeout) {
  gaspi_notification_id_t id = 0;
  return gaspi_notify_waitsome(0, 0, 16, &id, timeout);
}

void wait_in_threads() {
  std::thread other([] { expect_noticed([] { return wait_for_any_note(kTimeout); }); });
  expect_noticed([] { return wait_for_any_note(kTimeout); });
  EXPECT(wait_for_any_note(100) == GASPI_TIMEOUT);  // told already
  other.join();
  // A thread that nobody has told, but the program knows.
  EXPECT(is_corrupt(kVictim));
  std::thread([] { EXPECT(wait_for_any_note(100) == GASPI_TIMEOUT); }).join();
}

// Not before the others are done: who ends is one more that cannot notify.
void leave_together() {
  const gaspi_group_t rest = group_without(kVictim);
  REQUIRE(in_portions([&](gaspi_timeout_t t) { return gaspi_group_commit(rest, t); }) ==
          GASPI_SUCCESS);
  REQUIRE(gaspi_barrier(rest, kTimeout) == GASPI_SUCCESS);
  EXPECT(gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS);
}

using Post = std::function<gaspi_return_t(gaspi_queue_id_t)>;

// Requests of one kind to the dead process: posted and counted, and the queue's wait fails until it
// is purged.
void expect_in_vain(gaspi_queue_id_t queue, gaspi_number_t requests, const Post& post) {
  gaspi_number_t posted = 0;
  EXPECT(post(queue) == GASPI_SUCCESS);
  EXPECT(gaspi_queue_size(queue, &posted) == GASPI_SUCCESS && posted == requests);
  EXPECT(gaspi_wait(queue, 1000) == GASPI_ERROR);
  EXPECT(gaspi_queue_purge(queue, GASPI_BLOCK) == GASPI_SUCCESS);
  EXPECT(gaspi_queue_size(queue, &posted) == GASPI_SUCCESS && posted == 0);
  EXPECT(gaspi_wait(queue, 1000) == GASPI_SUCCESS);
}

// Another survivor may have noticed first, and said so.
void wait_until_corrupt() {
  const double end = seconds_now() + kPatience;
  while (!is_corrupt(kVictim) && seconds_now() < end) ::usleep(1000);
  REQUIRE(is_corrupt(kVictim));
}

void post_to_the_dead() {
  wait_until_corrupt();
  gaspi_segment_id_t ids[] = {0, 0, 0};
  gaspi_offset_t at[] = {0, 8, 16};
  gaspi_size_t sizes[] = {8, 8, 8};
  const Post posts[] = {
      [](auto q) { return gaspi_write(0, 0, kVictim, 0, 0, 8, q, kTimeout); },
      [](auto q) { return gaspi_read(0, 0, kVictim, 0, 0, 8, q, kTimeout); },
      [](auto q) { return gaspi_notify(0, kVictim, 1, 1, q, kTimeout); },
      [](auto q) { return gaspi_write_notify(0, 0, kVictim, 0, 0, 8, 1, 1, q, kTimeout); },
      [](auto q) { return gaspi_read_notify(0, 0, kVictim, 0, 0, 8, 1, q, kTimeout); },
  };
  for (const Post& post : posts) expect_in_vain(0, 1, post);
  const Post lists[] = {
      [&](auto q) { return gaspi_write_list(3, ids, at, kVictim, ids, at, sizes, q, kTimeout); },
      [&](auto q) {
        return gaspi_write_list_notify(3, ids, at, kVictim, ids, at, sizes, 0, 1, 1, q, kTimeout);
      },
      [&](auto q) { return gaspi_read_list(3, ids, at, kVictim, ids, at, sizes, q, kTimeout); },
      [&](auto q) {
        return gaspi_read_list_notify(3, ids, at, kVictim, ids, at, sizes, 0, 1, q, kTimeout);
      },
  };
  for (const Post& post : lists) expect_in_vain(3, 3, post);
  // A rank that does not exist is a mistake all the same, and so is a queue.
  EXPECT(gaspi_write(0, 0, all, 0, 0, 8, 0, kTimeout) == GASPI_ERR_INV_RANK);
  EXPECT(gaspi_write(0, 0, kVictim, 0, 0, 8, 200, kTimeout) == GASPI_ERR_INV_QUEUE);
  // The queue serves the living again.
  EXPECT(gaspi_write(0, 0, me, 0, 64, 8, 0, kTimeout) == GASPI_SUCCESS);
  EXPECT(gaspi_wait(0, kTimeout) == GASPI_SUCCESS);
}

void reduce() {
  double mine = 1, sum = 0;
  expect_noticed([&] {
    return gaspi_allreduce(&mine, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL,
                           kTimeout);
  });
}

void commit() {
  gaspi_group_t group = 0;
  REQUIRE(gaspi_group_create(&group) == GASPI_SUCCESS);
  for (gaspi_rank_t r = 0; r < all; ++r) REQUIRE(gaspi_group_add(group, r) == GASPI_SUCCESS);
  expect_noticed([&] { return gaspi_group_commit(group, kTimeout); });
}

void create() {
  expect_noticed([] {
    return gaspi_segment_create(1, 4096, GASPI_GROUP_ALL, kTimeout, GASPI_MEM_INITIALIZED);
  });
}

void barrier_of_all() {
  expect_noticed([] { return gaspi_barrier(GASPI_GROUP_ALL, kTimeout); });
}

// The one that waits for the victim has never spoken with it, and the others do not leave.
void barrier_of_strangers() {
  start(GASPI_TOPOLOGY_DYNAMIC);
  die_if_victim();
  barrier_of_all();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> cases{{"barrier", barrier_of_all},
                                                {"allreduce", reduce},
                                                {"commit", commit},
                                                {"create", create},
                                                {"waitsome", wait_in_threads},
                                                {"posts", post_to_the_dead},
                                                {"unconnected", barrier_of_strangers}};
  const auto chosen = cases.find(argc > 1 ? argv[1] : "");
  if (chosen == cases.end()) return 2;
  if (chosen->first != "unconnected") {
    start();
    create_segment();
    die_if_victim();
  }
  chosen->second();
  wait_until_corrupt();
  leave_together();
  if (failures == 0) std::printf("rank %u: %s: well\n", me, argv[1]);
  return failures == 0 ? 0 : 1;
}
