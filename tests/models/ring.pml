/* shm's ring of one sender and one receiver with sleep and wake: plugins/conduit/shm/ring.h, sleep.cpp.
 * Two lines, three messages, so that one line is used again.
 * Broken: HEADER_RELAXED, HEAD_RELAXED, CLEAR_LATE, NO_MEMBARRIER, FENCE_ALONE. */
#define NT 2
#define NL 6
#define K 9
#include "weak.pml"

#define SENDER 0
#define RECEIVER 1
#define HEADER(line) (line)
#define BODY(line) (2 + (line))
#define HEAD 4
#define SLEEPING 5
#define MESSAGES 3
#define LINES 2

#ifdef HEADER_RELAXED
#define HEADER_ORDER RELAXED
#else
#define HEADER_ORDER ORDERED
#endif

active proctype sender() { /* as process 0 */
  byte sent, head, sleeping;
  do
  :: sent == MESSAGES -> break
  :: else ->
    load(SENDER, HEAD, head, ORDERED);
    if
    :: sent - head < LINES ->
      store(SENDER, BODY(sent % LINES), sent + 1, RELAXED);
      store(SENDER, HEADER(sent % LINES), 1, HEADER_ORDER);
      sent++;
      load(SENDER, SLEEPING, sleeping, RELAXED);
      if
      :: sleeping != 0 -> exchange(SENDER, SLEEPING, sleeping, 0, ORDERED, ORDERED)
      :: else
      fi
    :: else
    fi
  od
}

inline take_message() {
  load(RECEIVER, HEADER(got % LINES), word, ORDERED);
  assert(word != 0); /* who has seen it once sees it again */
#ifdef HEAD_RELAXED
  if /* nothing keeps a relaxed store behind an earlier load */
  :: store(RECEIVER, HEADER(got % LINES), 0, RELAXED);
    store(RECEIVER, HEAD, got + 1, RELAXED);
    load(RECEIVER, BODY(got % LINES), body, RELAXED)
  :: load(RECEIVER, BODY(got % LINES), body, RELAXED);
    store(RECEIVER, HEADER(got % LINES), 0, RELAXED);
    store(RECEIVER, HEAD, got + 1, RELAXED)
  fi;
#else
  load(RECEIVER, BODY(got % LINES), body, RELAXED);
#ifdef CLEAR_LATE
  store(RECEIVER, HEAD, got + 1, ORDERED);
  store(RECEIVER, HEADER(got % LINES), 0, RELAXED);
#else
  store(RECEIVER, HEADER(got % LINES), 0, RELAXED);
  store(RECEIVER, HEAD, got + 1, ORDERED);
#endif
#endif
  assert(body == got + 1);
  got++
}

active proctype receiver() { /* as process 1 */
  byte got, word, body, naps, u;
  do
  :: got == MESSAGES -> break
  :: else ->
    load(RECEIVER, HEADER(got % LINES), word, RELAXED);
    if
    :: word != 0 -> take_message()
    :: else ->
      /* So many naps are tried; then it polls, and sees what has come. */
      if
      :: naps == 2 -> !is_now(HEADER(got % LINES), 0)
      :: else ->
        naps++;
        store(RECEIVER, SLEEPING, 1, RELAXED);
#if defined(FENCE_ALONE)
        full_fence(RECEIVER);
#elif !defined(NO_MEMBARRIER)
        membarrier(RECEIVER, u);
#endif
        load(RECEIVER, HEADER(got % LINES), word, RELAXED);
        if
        :: word == 0 -> is_now(SLEEPING, 0) /* the futex: for ever, if nobody wakes */
        :: else
        fi;
        store(RECEIVER, SLEEPING, 0, RELAXED)
      fi
    fi
  od
}
