/* A runtime in the style of compilers' ones ("loom"): modules bring tables of handlers, worker
 * threads send and sleep, a progress thread of the runtime's own runs every handler. */
#ifndef LOOM_RUNTIME_H
#define LOOM_RUNTIME_H

#include <gasnetex.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOOM_WORKERS = 2, LOOM_SLOT = 8192 };

extern gex_TM_t loom_team;
extern gex_Rank_t loom_me, loom_ranks;

/* Ends the job with the line that says what does not hold. */
void loom_require(bool holds, const char* what);

void loom_start(int* argc, char*** argv);
/* Entries with index 0 get one; may be called again whenever another module is loaded. */
void loom_register(gex_AM_Entry_t* table, size_t entries);
/* After this handlers run on the progress thread. */
void loom_start_progress(void);
void loom_barrier(void);
/* Ends this rank from a thread that the rank chooses, and the caller sleeps; or comes back, for
 * main to return while the progress thread goes on. */
void loom_finish(void);

/* Where in `owner`'s segment `sender`'s worker may write: one slot for requests, one for replies.
 */
char* loom_slot(gex_Rank_t owner, gex_Rank_t sender, int worker, bool reply);

/* A sleeper that a handler wakes; its address travels in two arguments. */
typedef struct {
  sem_t ready;
  int32_t value;
  size_t length;
  char* landing; /* where a medium reply's payload goes */
} loom_Sleeper_t;
static inline gex_AM_Arg_t loom_high(const void* p) {
  return (gex_AM_Arg_t)((uintptr_t)p >> 32);
}
static inline gex_AM_Arg_t loom_low(const void* p) {
  return (gex_AM_Arg_t)((uintptr_t)p & 0xFFFFFFFFu);
}
static inline void* loom_pointer(gex_AM_Arg_t high, gex_AM_Arg_t low) {
  return (void*)(((uintptr_t)(uint32_t)high << 32) | (uint32_t)low);
}
void loom_sleep(sem_t* until);

/* The modules. */
void messages_load(void);
void messages_load_late(void);
void messages_exchange(int worker);
/* Waits until everything that nobody replies to has arrived, too. */
void messages_settle(void);
void tasks_load(void);
void tasks_run(void);
/* A worker's life until the tasks are done. */
void tasks_work(void);

#endif
