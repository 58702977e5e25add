/* Atomics and locks by active messages. A lock lives on the PE of its number; who does not get it
 * asks again. Requests carry the address of what the reply fills in. */
#include <string.h>

#include "heap.h"

enum { FETCH_ADD = 201, FETCHED, LOCK_TRY, LOCK_ANSWER, LOCK_CLEAR, LOCK_CLEARED };

static gasnet_hsl_t hsl = GASNET_HSL_INITIALIZER;
static int holder_plus_one[SYM_LOCKS];

typedef struct {
  volatile int here;
  uint64_t value;
} Answer;

static gasnet_handlerarg_t high(uint64_t x) {
  return (gasnet_handlerarg_t)(x >> 32);
}
static gasnet_handlerarg_t low(uint64_t x) {
  return (gasnet_handlerarg_t)(x & 0xFFFFFFFFu);
}
static uint64_t whole(gasnet_handlerarg_t h, gasnet_handlerarg_t l) {
  return ((uint64_t)(uint32_t)h << 32) | (uint32_t)l;
}
static void answer(gasnet_handlerarg_t h, gasnet_handlerarg_t l, uint64_t value) {
  Answer* const waiting = (Answer*)(uintptr_t)whole(h, l);
  waiting->value = value;
  gasnett_local_wmb();
  waiting->here = 1;
}

static void on_fetch_add(gasnet_token_t token, gasnet_handlerarg_t wh, gasnet_handlerarg_t wl,
                         gasnet_handlerarg_t vh, gasnet_handlerarg_t vl, gasnet_handlerarg_t ah,
                         gasnet_handlerarg_t al) {
  uint64_t* const word = (uint64_t*)(uintptr_t)whole(wh, wl);
  gasnet_hsl_lock(&hsl);
  const uint64_t old = *word;
  *word = old + whole(vh, vl);
  gasnet_hsl_unlock(&hsl);
  gasnet_AMReplyShort4(token, FETCHED, high(old), low(old), ah, al);
}
static void on_fetched(gasnet_token_t token, gasnet_handlerarg_t h, gasnet_handlerarg_t l,
                       gasnet_handlerarg_t ah, gasnet_handlerarg_t al) {
  (void)token;
  answer(ah, al, whole(h, l));
}

static void on_lock_try(gasnet_token_t token, gasnet_handlerarg_t lock, gasnet_handlerarg_t ah,
                        gasnet_handlerarg_t al) {
  gasnet_node_t source;
  sym_require(gasnet_AMGetMsgSource(token, &source) == GASNET_OK, "a message has no source");
  gasnet_hsl_lock(&hsl);
  const int got = holder_plus_one[lock] == 0;
  if (got) holder_plus_one[lock] = (int)source + 1;
  gasnet_hsl_unlock(&hsl);
  gasnet_AMReplyShort3(token, LOCK_ANSWER, got, ah, al);
}
static void on_lock_answer(gasnet_token_t token, gasnet_handlerarg_t got, gasnet_handlerarg_t ah,
                           gasnet_handlerarg_t al) {
  (void)token;
  answer(ah, al, (uint64_t)got);
}
static void on_lock_clear(gasnet_token_t token, gasnet_handlerarg_t lock, gasnet_handlerarg_t ah,
                          gasnet_handlerarg_t al) {
  gasnet_node_t source;
  gasnet_AMGetMsgSource(token, &source);
  gasnet_hsl_lock(&hsl);
  const int was_held = holder_plus_one[lock] == (int)source + 1;
  holder_plus_one[lock] = 0;
  gasnet_hsl_unlock(&hsl);
  gasnet_AMReplyShort3(token, LOCK_CLEARED, was_held, ah, al);
}

void sym_remote_handlers(gasnet_handlerentry_t* table) {
  const gasnet_handlerentry_t handlers[SYM_HANDLERS] = {
      {FETCH_ADD, on_fetch_add},     {FETCHED, on_fetched},       {LOCK_TRY, on_lock_try},
      {LOCK_ANSWER, on_lock_answer}, {LOCK_CLEAR, on_lock_clear}, {LOCK_CLEARED, on_lock_answer},
  };
  memcpy(table, handlers, sizeof handlers);
}

uint64_t sym_fetch_add(uint64_t* symmetric, uint64_t value, int pe) {
  Answer waiting = {0, 0};
  const uint64_t word = (uint64_t)(uintptr_t)sym_there(symmetric, pe);
  const uint64_t mine = (uint64_t)(uintptr_t)&waiting;
  gasnet_AMRequestShort6((gasnet_node_t)pe, FETCH_ADD, high(word), low(word), high(value),
                         low(value), high(mine), low(mine));
  GASNET_BLOCKUNTIL(waiting.here);
  return waiting.value;
}

static bool ask(gasnet_handler_t handler, int lock) {
  Answer waiting = {0, 0};
  const uint64_t mine = (uint64_t)(uintptr_t)&waiting;
  sym_require(lock >= 0 && lock < SYM_LOCKS, "no such lock");
  gasnet_AMRequestShort3((gasnet_node_t)(lock % sym_n_pes()), handler, lock, high(mine), low(mine));
  GASNET_BLOCKUNTIL(waiting.here);
  return waiting.value != 0;
}
bool sym_test_lock(int lock) {
  return ask(LOCK_TRY, lock);
}
void sym_set_lock(int lock) {
  while (!sym_test_lock(lock)) gasnett_sched_yield();
}
void sym_clear_lock(int lock) {
  sym_quiet();
  sym_require(ask(LOCK_CLEAR, lock), "a lock is cleared by who does not hold it");
}
