/* Tasks that make tasks on other ranks: a tree whose shape its hash says, counted by whoever a node
 * lands on. The end is found by summing what was sent and what was done, until both agree twice. */
#include "runtime.h"

#include <gasnet_coll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  uint64_t seed;
  uint32_t depth;
} Task;

static gex_AM_Index_t task_request;

/* What has arrived and not been taken, a stack; handlers push and workers pop. */
static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
static Task* waiting;
static size_t waiting_count, waiting_room;
static sem_t any_waiting;

static _Atomic uint64_t sent, done;
static atomic_bool finished;

static void on_task(gex_Token_t token, void* payload, size_t length) {
  (void)token;
  loom_require(length == sizeof(Task), "a task has another size");
  gex_HSL_Lock(&hsl);
  if (waiting_count == waiting_room) {
    waiting_room = waiting_room ? 2 * waiting_room : 64;
    waiting = realloc(waiting, waiting_room * sizeof(Task));
    loom_require(waiting != NULL, "no memory for tasks");
  }
  memcpy(&waiting[waiting_count++], payload, sizeof(Task));
  gex_HSL_Unlock(&hsl);
  sem_post(&any_waiting);
}

void tasks_load(void) {
  gex_AM_Entry_t table[] = {
      {0, on_task, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "task"}};
  loom_require(sem_init(&any_waiting, 0, 0) == 0, "no semaphore");
  loom_register(table, 1);
  task_request = table[0].gex_index;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
enum { DEPTH = 9 };
static unsigned children_of(const Task* task) {
  return task->depth == DEPTH ? 0 : task->depth < 3 ? 3 : (unsigned)(mix(task->seed) % 4);
}
static Task child_of(const Task* task, unsigned child) {
  return (Task){mix(task->seed + child + 1), task->depth + 1};
}
static uint64_t count_here(const Task* task) {
  uint64_t nodes = 1;
  for (unsigned i = 0; i < children_of(task); ++i) {
    const Task child = child_of(task, i);
    nodes += count_here(&child);
  }
  return nodes;
}

static void send(const Task* task) {
  atomic_fetch_add(&sent, 1);
  gex_AM_RequestMedium(loom_team, (gex_Rank_t)(mix(task->seed ^ 5) % loom_ranks), task_request,
                       task, sizeof *task, GEX_EVENT_NOW, 0);
}

void tasks_work(void) {
  for (;;) {
    loom_sleep(&any_waiting);
    if (atomic_load(&finished)) return;
    gex_HSL_Lock(&hsl);
    loom_require(waiting_count > 0, "a worker was woken for nothing");
    const Task task = waiting[--waiting_count];
    gex_HSL_Unlock(&hsl);
    for (unsigned i = 0; i < children_of(&task); ++i) {
      const Task child = child_of(&task, i);
      send(&child);
    }
    atomic_fetch_add(&done, 1);
  }
}

/* Counts are taken rank by rank, not all at once; but a sum of done tasks that equals that of sent
 * ones in two rounds, the second begun after the first has ended everywhere, is no accident. */
static uint64_t wait_for_the_end(void) {
  uint64_t before[2] = {0, 0}, now[2] = {1, 0};
  while (now[0] != now[1] || before[0] != now[0] || before[1] != now[1]) {
    const uint64_t mine[2] = {atomic_load(&done), atomic_load(&sent)};
    memcpy(before, now, sizeof before);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(loom_team, now, mine, GEX_DT_U64, sizeof mine[0], 2,
                                          GEX_OP_ADD, NULL, NULL, 0));
    nanosleep(&(struct timespec){0, 200000}, NULL);
  }
  return now[0];
}

void tasks_run(void) {
  const Task root = {42, 0};
  if (loom_me == 0) send(&root);
  const uint64_t all = wait_for_the_end();
  loom_require(all == count_here(&root), "tasks were lost or done twice");
  loom_require(loom_ranks == 1 || atomic_load(&done) < all, "this rank did everything");
  atomic_store(&finished, true);
  for (int i = 0; i < LOOM_WORKERS; ++i) sem_post(&any_waiting);
}
