/* Small units by datagrams beside a stream that repairs: plugins/conduit/eth, datagrams.cpp (send_datagram(),
 * lead_back(), join_stream(), hear_taken()), datagram_inbox.cpp (take_unit()), inbox.cpp (take_units()).
 * A unit's number is its offset. The other direction only tells what has been taken.
 * Broken: BARE (new units leave over the stream without the copies in front of them), NO_SYNC (the copies leave
 * without the sync), TWICE (the stream's units are taken although datagrams have brought them), AMID (datagrams are
 * taken while a unit of the stream is being placed), EARLY (a copy is dropped as soon as its datagram is sent). */
#define UNITS 5
#define LONGEST 2 /* units in a datagram */
#define SYNC 16   /* in the stream: a sync is this and an offset, a unit is its number */
#define ROOM 15   /* each unit is in the stream once at most, with a sync in front and one behind */

chan stream = [ROOM] of { byte };
chan back = [1] of { byte }; /* what syncs of the other direction tell */
/* Datagrams stay in these sets: each may come late, often, in any order or not at all. */
byte datagram[UNITS];  /* at its offset: how many units */
bool told[UNITS + 1];  /* those of the other direction, by what they tell */
bool silent;           /* no datagram comes any more, and nothing more is told */

/* The sender: the copies are of the units from `oldest` to `left`. */
byte left, known, streamed, oldest;
bool behind;
/* The receiver: `rest` units of a datagram are still to be looked at, from `next` on. */
byte at, taken, rest, next, number, expected;
bool placing;

#define UNDER_WAY (oldest != left)
#define MAY_BE_MORE (!UNDER_WAY || oldest + datagram[oldest] == left) /* fewer than two datagrams */

inline lead_back() {
  if
  :: behind ->
    behind = false;
#ifdef BARE
    oldest = left;
#endif
#ifndef NO_SYNC
    stream!SYNC + oldest;
#endif
    do
    :: UNDER_WAY -> stream!oldest; oldest++
    :: else -> break
    od
  :: else
  fi
}

/* A sync behind the units tells news of the other direction. */
inline has_joined() {
  oldest = left; streamed = left;
  if
  :: stream!SYNC + left
  :: true
  fi
}

inline hear_taken(what) {
  assert(what <= taken);
  do
  :: known < what -> known++; told[known] = false /* repetitions change nothing */
  :: known >= what && UNDER_WAY && oldest + datagram[oldest] <= known -> oldest = oldest + datagram[oldest]
  :: else -> break
  od
}

proctype sender() {
  byte i;
end:
  do
  :: atomic { left < UNITS && known >= streamed && MAY_BE_MORE ->
      i = 1;
      do
      :: i < LONGEST && left + i < UNITS -> i++
      :: true -> break
      od;
      datagram[left] = i; left = left + i; behind = true;
#ifdef EARLY
      oldest = left;
#endif
      i = 0 }
  :: atomic { left < UNITS -> lead_back(); stream!left; left++; has_joined() }
  :: atomic { UNDER_WAY -> lead_back(); has_joined() } /* given up */
  :: atomic { nempty(back) -> back?i; hear_taken(i); i = 0 }
  :: atomic { !silent ->
      do
      :: told[i] -> hear_taken(i); break
      :: i < UNITS -> i++
      :: i == UNITS -> break
      od;
      i = 0 }
  od
}

inline take(unit) {
  assert(unit == expected);
  expected++
}

proctype receiver() {
end:
  do
  :: atomic { !placing && nempty(stream) ->
      stream?number;
      if
      :: number >= SYNC -> at = number - SYNC; assert(at <= taken); number = 0
      :: else ->
        assert(at <= taken);
        if
#ifndef TWICE
        :: at < taken -> assert(number < expected); number = 0 /* skipped */
#endif
        :: else -> placing = true
        fi;
        at++
      fi }
  :: atomic { placing -> take(number); taken = at; placing = false; number = 0 }
  /* A datagram of another offset is dropped, which changes nothing. */
  :: atomic { !silent && rest == 0 && taken < UNITS && datagram[taken] != 0 -> rest = datagram[taken]; next = taken }
  :: atomic { rest != 0 ->
      if
#ifdef AMID
      :: next == taken ->
#else
      :: next == taken && !placing ->
#endif
        take(next); taken++; rest--; next = (rest != 0 -> taken : 0)
      :: else -> rest = 0; next = 0
      fi }
  /* The sender is told news only: all else would change nothing. */
  :: atomic { !silent && taken > known && !told[taken] -> told[taken] = true }
  :: atomic { !silent && taken > known && empty(back) -> back!taken }
  :: atomic { !silent -> silent = true }
  od
}

init {
  atomic { run sender(); run receiver() }
  timeout ->
  assert(expected == UNITS && taken == UNITS && left == UNITS && !UNDER_WAY && empty(stream))
}
