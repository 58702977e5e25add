/* A machine weaker than ARM's in what readers see: each location keeps every value that it ever had, in order, and a
 * thread reads any that is not older than what it knows. A store with release hands on what its thread knows; a load
 * with acquire takes that over; a full fence trades it with all fences before. Loads and stores of one thread happen
 * in its order: where a model is about a store that may come before an earlier load, it says so itself.
 *
 * Before the #include: NT threads, NL locations, K values that a location has at most (the first is 0). */
byte value[NL * K];
byte newest[NL];
byte known[NT * NL];       /* by thread and location: what it may not look behind */
byte handed[NL * K * NL];  /* by value: what its store handed on */
byte fenced[NL];           /* what fences have traded */
hidden byte i_;

#define RELAXED 0
#define ORDERED 1 /* a store with release, a load with acquire, both for what does both */

inline join(t, to) {
  for (i_ : 0 .. NL - 1) {
    if
    :: to[i_] > known[(t) * NL + i_] -> known[(t) * NL + i_] = to[i_]
    :: else
    fi
  }
}

inline take(t, at, order) {
  for (i_ : 0 .. NL - 1) {
    if
    :: (order) == ORDERED && handed[(at) * NL + i_] > known[(t) * NL + i_] ->
      known[(t) * NL + i_] = handed[(at) * NL + i_]
    :: else
    fi
  }
}

inline store(t, l, v, order) {
  d_step {
    newest[l]++;
    assert(newest[l] < K); /* else the model is too small for itself */
    value[(l) * K + newest[l]] = v;
    known[(t) * NL + l] = newest[l];
    for (i_ : 0 .. NL - 1) {
      handed[((l) * K + newest[l]) * NL + i_] = ((order) == ORDERED -> known[(t) * NL + i_] : 0)
    }
  }
}

inline load(t, l, r, order) {
  atomic {
    do
    :: known[(t) * NL + l] < newest[l] -> known[(t) * NL + l]++
    :: break
    od;
    r = value[(l) * K + known[(t) * NL + l]];
    take(t, (l) * K + known[(t) * NL + l], order)
  }
}

/* r: the value before; stores v(r). It reads the newest value, and hands on what that did. */
inline exchange(t, l, r, v, store_order, load_order) {
  d_step {
    known[(t) * NL + l] = newest[l];
    r = value[(l) * K + newest[l]];
    take(t, (l) * K + newest[l], load_order);
    newest[l]++;
    assert(newest[l] < K);
    value[(l) * K + newest[l]] = v;
    known[(t) * NL + l] = newest[l];
    for (i_ : 0 .. NL - 1) {
      handed[((l) * K + newest[l]) * NL + i_] = handed[((l) * K + newest[l] - 1) * NL + i_];
      if
      :: (store_order) == ORDERED && known[(t) * NL + i_] > handed[((l) * K + newest[l]) * NL + i_] ->
        handed[((l) * K + newest[l]) * NL + i_] = known[(t) * NL + i_]
      :: else
      fi
    }
  }
}

inline full_fence(t) {
  d_step {
    for (i_ : 0 .. NL - 1) {
      if
      :: fenced[i_] > known[(t) * NL + i_] -> known[(t) * NL + i_] = fenced[i_]
      :: else -> fenced[i_] = known[(t) * NL + i_]
      fi
    }
  }
}

/* The kernel has every other thread come to a full fence, one after the other, at some point of its program. */
inline membarrier(t, u) {
  full_fence(t);
  for (u : 0 .. NT - 1) {
    full_fence(u)
  }
  full_fence(t)
}

/* Blocks until the newest value is v: the kernel's look, which nothing delays. */
#define is_now(l, v) (value[(l) * K + newest[l]] == (v))
