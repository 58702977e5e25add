/* Naps of who waits for a collective's signal: ArenaHead::napping in core/collective/arena.h, engine.cpp.
 * Every signal is raised and then looked for sleepers; who sleeps is woken by a message.
 * ALL_FENCE: the owner has all pass a barrier, and raisers have none (naps_are_fenced()).
 * Broken: NO_FENCE. */
#define NT 2
#define NL 2
#define K 6
#include "weak.pml"

#define RAISER 0
#define OWNER 1
#define SIGNAL 0
#define NAPPING 1

bool nudged;

active proctype raiser() {
  byte before, napping;
  exchange(RAISER, SIGNAL, before, 1, ORDERED, ORDERED);
#ifndef ALL_FENCE
  full_fence(RAISER); /* a sequentially consistent load stays behind such a store */
#endif
  load(RAISER, NAPPING, napping, ORDERED);
  if
  :: napping != 0 -> nudged = true
  :: else
  fi
}

active proctype owner() {
  byte raised, before, u;
  load(OWNER, SIGNAL, raised, ORDERED);
  if
  :: raised == 0 ->
    exchange(OWNER, NAPPING, before, 1, ORDERED, ORDERED);
#if defined(ALL_FENCE) && !defined(NO_FENCE)
    membarrier(OWNER, u);
#elif !defined(NO_FENCE)
    full_fence(OWNER);
#endif
    load(OWNER, SIGNAL, raised, ORDERED);
    if
    :: raised == 0 -> nudged /* sleeps */
    :: else
    fi
  :: else
  fi
}
