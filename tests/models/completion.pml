/* An implicit operation that two threads report on, and the wait of a third: core/thread/op.cpp, op.h.
 * Broken: REPORT_RELAXED (the first report), LAST_WITHOUT_ACQUIRE, COUNT_RELAXED, GIVEN_LATE (the operation is given
 * back after the count, when its owner may have ended). */
#define NT 3
#define NL 5
#define K 4
#include "weak.pml"

#define OWNER 2
#define DATA(t) (t) /* what reporter t wrote for the client */
#define DONE 2
#define COUNT 3
#define NEXT 4 /* of the operation, in the list of who gave it back */
#define BOTH 3

#ifdef REPORT_RELAXED
#define REPORT RELAXED
#else
#define REPORT ORDERED
#endif
#ifdef LAST_WITHOUT_ACQUIRE
#define SEES RELAXED
#else
#define SEES ORDERED
#endif
#ifdef COUNT_RELAXED
#define TELLS RELAXED
#else
#define TELLS ORDERED
#endif

bool over; /* the owner's set, and the operation with it, may be gone */

inline give() {
  assert(!over);
  store(me, NEXT, 1, RELAXED)
}

active [2] proctype reporter() { /* as processes 0 and 1 */
  byte me = _pid, before, count;
  store(me, DATA(me), 1, RELAXED);
  exchange(me, DONE, before, before | (1 << me), REPORT, SEES);
  if
  :: (before | (1 << me)) == BOTH ->
#ifndef GIVEN_LATE
    give();
#endif
    exchange(me, COUNT, count, 1, TELLS, RELAXED);
#ifdef GIVEN_LATE
    give();
#endif
  :: else
  fi
}

active proctype owner() {
  byte count, data;
  do
  :: load(OWNER, COUNT, count, ORDERED);
    if
    :: count != 0 -> break
    :: else -> !is_now(COUNT, 0) /* looks again when there is news */
    fi
  od;
  over = true;
  load(OWNER, DATA(0), data, RELAXED);
  assert(data == 1);
  load(OWNER, DATA(1), data, RELAXED);
  assert(data == 1);
  load(OWNER, NEXT, data, RELAXED);
  assert(data == 1)
}
