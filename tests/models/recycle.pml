/* A slot whose sender has left is made new, beside a thread that still reads its ring: recycle() in
 * plugins/conduit/shm/slots.cpp, drain() and RxLane::move_past().
 * Broken: LOOK_FIRST (the look for records comes before the lane is locked). */
#define NT 2
#define NL 4
#define K 12
#include "weak.pml"

#define READER 0
#define RECYCLER 1
#define HEADER(at) (at) /* 0: a record, 1: read and cleared */
#define AT 2            /* where the reader goes on */
#define LOCK 3
#define RECORDS 2

byte delivered;

inline lock(t) {
  atomic {
    is_now(LOCK, 0) -> exchange(t, LOCK, before, 1, RELAXED, ORDERED)
  }
}
inline unlock(t) {
  store(t, LOCK, 0, ORDERED)
}

active proctype reader() { /* one message for each time that it has the lane */
  byte at, word, before;
  do
  :: delivered == RECORDS -> break
  :: else ->
    lock(READER);
    load(READER, AT, at, RELAXED);
    load(READER, HEADER(at), word, ORDERED);
    assert(word == 0);
    delivered++;
    store(READER, AT, at + 1, RELAXED);
    store(READER, HEADER(at), 1, RELAXED);
    unlock(READER)
  od
}

inline look() {
  load(RECYCLER, AT, at, RELAXED);
  word = 1; /* behind the last record there is none */
  if
  :: at < RECORDS -> load(RECYCLER, HEADER(at), word, RELAXED)
  :: else
  fi
}

active proctype recycler() {
  byte at, word, before;
#ifdef LOOK_FIRST
  look();
  if
  :: word != 0 ->
    lock(RECYCLER);
#else
  lock(RECYCLER);
  look();
  if
  :: word != 0 ->
#endif
    assert(delivered == RECORDS);
    unlock(RECYCLER)
#ifdef LOOK_FIRST
  :: else /* another time */
#else
  :: else -> unlock(RECYCLER)
#endif
  fi
}
