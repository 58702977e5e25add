/* The end of polls: end_polls() beside poll_once() in core/progress/poll.cpp, others_poll() in core/thread.
 * Broken: NO_MEMBARRIER, LEAVE_RELAXED, LOOK_RELAXED. */
#define NT 2
#define NL 3
#define K 7
#include "weak.pml"

#define POLLER 0
#define ENDER 1
#define IN_POLL 0
#define TABLE 1 /* 0: the conduits, 1: none */
#define WORK 2  /* what a poll did */
#define POLLS 2

#ifdef LEAVE_RELAXED
#define LEAVE RELAXED
#else
#define LEAVE ORDERED
#endif
#ifdef LOOK_RELAXED
#define LOOK RELAXED
#else
#define LOOK ORDERED
#endif

bool gone; /* the conduits' libraries have ended */
byte did;

active proctype poller() {
  byte polls, table;
  do
  :: polls == POLLS -> break
  :: else ->
    polls++;
    store(POLLER, IN_POLL, 1, RELAXED);
    load(POLLER, TABLE, table, ORDERED);
    if
    :: table == 0 ->
      assert(!gone);
      store(POLLER, WORK, polls, RELAXED);
      did = polls
    :: else
    fi;
    store(POLLER, IN_POLL, 0, LEAVE)
  od
}

active proctype ender() {
  byte polls, work, u;
  store(ENDER, TABLE, 1, ORDERED);
#ifndef NO_MEMBARRIER
  membarrier(ENDER, u);
#endif
  do
  :: load(ENDER, IN_POLL, polls, LOOK);
    if
    :: polls == 0 -> break
    :: else -> is_now(IN_POLL, 0)
    fi
  od;
  gone = true;
  load(ENDER, WORK, work, RELAXED);
  assert(work == did)
}
