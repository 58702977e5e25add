/* Requests and replies of every category, from worker threads that sleep until the reply is here.
 */
#include "runtime.h"

#include <stdatomic.h>
#include <string.h>

#define REQUEST GEX_FLAG_AM_REQUEST
#define REPLY GEX_FLAG_AM_REPLY

/* Indices that registration chose; every rank loads the same modules in the same order. */
static gex_AM_Index_t short_request, short_reply, medium_request, medium_reply, long_request,
    long_reply, sum_request, sum_reply, notice;
static atomic_uint notices;

static void wake(loom_Sleeper_t* sleeper, int32_t value, size_t length) {
  sleeper->value = value;
  sleeper->length = length;
  sem_post(&sleeper->ready);
}

static void on_short_request(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low,
                             gex_AM_Arg_t value) {
  gex_AM_ReplyShort(token, short_reply, 0, high, low, value * 3 + 1);
}
static void on_short_reply(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low,
                           gex_AM_Arg_t value) {
  (void)token;
  wake(loom_pointer(high, low), value, 0);
}

/* The payload comes back in reverse. */
static void on_medium_request(gex_Token_t token, void* payload, size_t length, gex_AM_Arg_t high,
                              gex_AM_Arg_t low) {
  static _Thread_local char turned[LOOM_SLOT];
  loom_require(length <= sizeof turned, "a medium is too long");
  for (size_t i = 0; i < length; ++i) turned[i] = ((char*)payload)[length - 1 - i];
  gex_AM_ReplyMedium(token, medium_reply, turned, length, GEX_EVENT_NOW, 0, high, low);
}
static void on_medium_reply(gex_Token_t token, void* payload, size_t length, gex_AM_Arg_t high,
                            gex_AM_Arg_t low) {
  loom_Sleeper_t* const sleeper = loom_pointer(high, low);
  (void)token;
  memcpy(sleeper->landing, payload, length);
  wake(sleeper, 0, length);
}

/* The reply carries what was written here, one added to each byte, into the sender's segment. */
static void on_long_request(gex_Token_t token, void* payload, size_t length, gex_AM_Arg_t high,
                            gex_AM_Arg_t low, gex_AM_Arg_t worker) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  const gex_Rank_t source = info.gex_srcrank;
  loom_require(info.gex_is_req && info.gex_is_long, "a long request's token says something else");
  loom_require(payload == loom_slot(loom_me, source, worker, false), "a long landed elsewhere");
  for (size_t i = 0; i < length; ++i) ++((char*)payload)[i];
  gex_AM_ReplyLong(token, long_reply, payload, length, loom_slot(source, loom_me, worker, true),
                   GEX_EVENT_NOW, 0, high, low);
}
static void on_long_reply(gex_Token_t token, void* payload, size_t length, gex_AM_Arg_t high,
                          gex_AM_Arg_t low) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  loom_require(!info.gex_is_req && info.gex_is_long, "a long reply's token says something else");
  (void)payload;
  wake(loom_pointer(high, low), 0, length);
}

static void on_notice(gex_Token_t token) {
  (void)token;
  atomic_fetch_add(&notices, 1);
}

/* Loaded later than the others, with the most arguments there are. */
static void on_sum_request(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low, gex_AM_Arg_t a,
                           gex_AM_Arg_t b, gex_AM_Arg_t c, gex_AM_Arg_t d, gex_AM_Arg_t e,
                           gex_AM_Arg_t f, gex_AM_Arg_t g, gex_AM_Arg_t h, gex_AM_Arg_t i,
                           gex_AM_Arg_t j, gex_AM_Arg_t k, gex_AM_Arg_t l, gex_AM_Arg_t m,
                           gex_AM_Arg_t n) {
  const gex_AM_Arg_t sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i +
                           10 * j + 11 * k + 12 * l + 13 * m + 14 * n;
  gex_AM_ReplyShort(token, sum_reply, 0, high, low, sum);
}

void messages_load(void) {
  gex_AM_Entry_t table[] = {
      {0, on_short_request, GEX_FLAG_AM_SHORT | REQUEST, 3, NULL, "short"},
      {0, on_short_reply, GEX_FLAG_AM_SHORT | REPLY, 3, NULL, "short done"},
      {200, on_medium_request, GEX_FLAG_AM_MEDIUM | REQUEST, 2, NULL, "medium"},
      {0, on_medium_reply, GEX_FLAG_AM_MEDIUM | REPLY, 2, NULL, NULL},
      {0, on_long_request, GEX_FLAG_AM_LONG | REQUEST, 3, NULL, "long"},
      {0, on_long_reply, GEX_FLAG_AM_LONG | REPLY, 2, NULL, NULL},
  };
  loom_register(table, sizeof table / sizeof table[0]);
  loom_require(table[2].gex_index == 200, "an index that was asked for is another");
  short_request = table[0].gex_index, short_reply = table[1].gex_index;
  medium_request = table[2].gex_index, medium_reply = table[3].gex_index;
  long_request = table[4].gex_index, long_reply = table[5].gex_index;
}
void messages_load_late(void) {
  gex_AM_Entry_t table[] = {
      {0, on_sum_request, GEX_FLAG_AM_SHORT | REQUEST, 16, NULL, "sum"},
      {0, on_short_reply, GEX_FLAG_AM_SHORT | REPLY, 3, NULL, "sum done"},
      {0, on_notice, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, NULL, "notice"},
  };
  loom_register(table, sizeof table / sizeof table[0]);
  sum_request = table[0].gex_index, sum_reply = table[1].gex_index, notice = table[2].gex_index;
}

static void ask_short(loom_Sleeper_t* s, gex_Rank_t peer, int round) {
  gex_AM_RequestShort(loom_team, peer, short_request, 0, loom_high(s), loom_low(s), round);
  loom_sleep(&s->ready);
  loom_require(s->value == round * 3 + 1, "a short reply has another value");
}

/* Round after round another way to wait for the source to be reusable. */
static void ask_medium(loom_Sleeper_t* s, gex_Rank_t peer, int round) {
  static _Thread_local char source[LOOM_SLOT], landing[LOOM_SLOT];
  const size_t most = gex_AM_MaxRequestMedium(loom_team, peer, GEX_EVENT_NOW, 0, 2);
  size_t length = (size_t)round * 97 % 4096;
  if (length > most) length = most;
  for (size_t i = 0; i < length; ++i) source[i] = (char)(i * 7 + (size_t)round);
  s->landing = landing;
  gex_Event_t local = GEX_EVENT_INVALID;
  gex_Event_t* const way = round % 3 == 0   ? GEX_EVENT_NOW
                           : round % 3 == 1 ? GEX_EVENT_GROUP
                                            : &local;
  loom_require(gex_AM_RequestMedium(loom_team, peer, medium_request, source, length, way, 0,
                                    loom_high(s), loom_low(s)) == 0,
               "a medium is refused that is not immediate");
  if (way == GEX_EVENT_GROUP) gex_NBI_Wait(GEX_EC_AM, 0);
  if (way == &local) gex_Event_Wait(local);
  loom_sleep(&s->ready);
  loom_require(s->length == length, "a medium reply has another length");
  for (size_t i = 0; i < length; ++i)
    loom_require(landing[i] == (char)((length - 1 - i) * 7 + (size_t)round),
                 "a medium's bytes differ");
}

static void ask_long(loom_Sleeper_t* s, gex_Rank_t peer, int worker, int round) {
  static _Thread_local char source[LOOM_SLOT];
  const size_t most = gex_AM_MaxRequestLong(loom_team, peer, GEX_EVENT_NOW, 0, 3);
  size_t length = (size_t)round * 413 % LOOM_SLOT;
  if (length > most) length = most;
  for (size_t i = 0; i < length; ++i) source[i] = (char)(i * 5 + (size_t)round);
  char* const landing = loom_slot(loom_me, peer, worker, true);
  memset(landing, 0, length);
  gex_Event_t local = GEX_EVENT_INVALID;
  gex_AM_RequestLong(loom_team, peer, long_request, source, length,
                     loom_slot(peer, loom_me, worker, false), round % 2 ? &local : GEX_EVENT_NOW, 0,
                     loom_high(s), loom_low(s), worker);
  if (round % 2) gex_Event_Wait(local);
  loom_sleep(&s->ready);
  loom_require(s->length == length, "a long reply has another length");
  for (size_t i = 0; i < length; ++i)
    loom_require(landing[i] == (char)(i * 5 + (size_t)round + 1), "a long's bytes differ");
}

static void ask_sum(loom_Sleeper_t* s, gex_Rank_t peer, int round) {
  gex_AM_RequestShort(loom_team, peer, sum_request, 0, loom_high(s), loom_low(s), round, 1, 1, 1, 1,
                      1, 1, 1, 1, 1, 1, 1, 1, -1);
  loom_sleep(&s->ready);
  loom_require(s->value == round + 90 - 14, "sixteen arguments arrive as others");
}

enum { ROUNDS = 20 };
void messages_exchange(int worker) {
  loom_Sleeper_t sleeper;
  loom_require(sem_init(&sleeper.ready, 0, 0) == 0, "no semaphore");
  for (int round = 0; round < ROUNDS; ++round)
    for (gex_Rank_t step = 0; step < loom_ranks; ++step) {
      const gex_Rank_t peer = (loom_me + step) % loom_ranks;
      ask_short(&sleeper, peer, round);
      ask_medium(&sleeper, peer, round);
      ask_long(&sleeper, peer, worker, round);
      ask_sum(&sleeper, peer, round);
      gex_AM_RequestShort(loom_team, peer, notice, 0);
    }
  sem_destroy(&sleeper.ready);
}

void messages_settle(void) {
  const unsigned all = (unsigned)loom_ranks * LOOM_WORKERS * ROUNDS;
  GASNET_BLOCKUNTIL(atomic_load(&notices) == all);
}
