/* A connection that is closed while it is quiet, and opened again: parking.cpp of plugins/conduit/eth.
 * Each stream is a channel; closing one that holds anything else than its end would lose that.
 * Broken: YES_BEHIND (units follow a yes), DEAF (the side that asked closes although it has sent something
 * since), SILENT (it stays and says nothing), BOTH (questions that cross are answered both). */
#define UNITS 3
#define ASKS 2
#define ROOM 6

mtype = { unit, ask, yes, no, other, end_of_stream };
mtype = { up, parking, parked };
chan to_1 = [ROOM] of { mtype }; /* from side 0 */
chan to_0 = [ROOM] of { mtype };
mtype state[2] = up;
bool asked[2];
byte sent[2], got[2], asks[2];

#define SENT_TO(side) (side == 0 -> len(to_0) : len(to_1))
#define HAS_ROOM(side) (SENT_TO(1 - side) < ROOM)

inline say(side, what) {
  if
  :: side == 0 -> to_1!what
  :: else -> to_0!what
  fi
}
inline hear(side, what) {
  if
  :: side == 0 -> to_0?what
  :: else -> to_1?what
  fi
}

/* Another question waits for the answer to this one. The question of side 0 counts where both ask. */
inline on_ask(me) {
  if
#ifndef BOTH
  :: asked[me] && me == 0 -> skip
#endif
#ifdef BOTH
  :: asked[me] -> state[me] = parking; say(me, yes)
  :: !asked[me] ->
#else
  :: !(asked[me] && me == 0) ->
    if
    :: asked[me] -> state[me] = up
    :: else
    fi;
    asked[me] = false;
#endif
    if
    :: state[me] == up -> state[me] = parking; say(me, yes)
    :: true -> say(me, no) /* something is under way */
    fi
  fi
}

inline on_yes(me) {
  asked[me] = false;
  if
#ifdef DEAF
  :: true ->
#else
  :: state[me] == parking ->
#endif
    assert(SENT_TO(me) == 0);
    state[me] = parked;
    say(me, end_of_stream)
  :: true ->
    state[me] = up;
#ifndef SILENT
    say(me, other)
#endif
  fi
}

/* A hello of `me`: the other side may not have read the end of the stream yet. */
inline open(me) {
  assert(state[1 - me] != up && !asked[1 - me]);
  do
  :: SENT_TO(1 - me) > 0 -> hear(1 - me, heard); assert(heard == end_of_stream)
  :: else -> break
  od;
  assert(SENT_TO(me) == 0);
  state[0] = up;
  state[1] = up
}

proctype side(byte me) {
  mtype heard;
end:
  do
  :: atomic { sent[me] < UNITS && HAS_ROOM(me) &&
#ifdef YES_BEHIND
      state[me] != parked ->
#else
      (state[me] == up || (state[me] == parking && asked[me])) ->
      state[me] = up;
#endif
      say(me, unit); sent[me]++ }
  :: atomic { asks[me] < ASKS && HAS_ROOM(me) && state[me] == up && !asked[me] ->
      state[me] = parking; asked[me] = true; say(me, ask); asks[me]++ }
  :: atomic { state[me] == parked && sent[me] < UNITS -> open(me) }
  :: atomic { SENT_TO(me) > 0 && HAS_ROOM(me) ->
      hear(me, heard);
      if
      :: heard == unit || heard == other ->
        if
        :: state[me] == parking -> state[me] = up
        :: else
        fi;
        got[1 - me] = got[1 - me] + (heard == unit -> 1 : 0)
      :: heard == ask -> on_ask(me)
      :: heard == yes -> assert(asked[me]); on_yes(me)
      :: heard == no -> assert(asked[me]); asked[me] = false; state[me] = up
      :: heard == end_of_stream -> assert(state[me] == parking && !asked[me]); state[me] = parked
      fi }
  od
}

init {
  atomic { run side(0); run side(1) }
  timeout ->
  assert(got[0] == UNITS && got[1] == UNITS && !asked[0] && !asked[1]);
  assert(state[0] != parking && state[1] != parking)
}
