/* The core of the runtime: start, tables, progress, end. */
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

gex_TM_t loom_team;
gex_Rank_t loom_me, loom_ranks;

static gex_Client_t client;
static gex_EP_t endpoint;
static pthread_t progress;
/* Set once the work is done: the thread of that number ends the rank. */
enum { NOBODY, MAIN_THREAD, PROGRESS_THREAD, ENDING_THREAD, RETURN_FROM_MAIN };
static atomic_int who_ends = NOBODY;

void loom_require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)loom_me, what);
  gasnet_exit(1);
}

/* Handlers of the core have indices of their own: they exist before anything can be looked up. */
enum { HELLO = GEX_AM_INDEX_BASE };
static atomic_uint hellos;
static void on_hello(gex_Token_t token, gex_AM_Arg_t from) {
  gex_Token_Info_t info;
  const gex_TI_t known = gex_Token_Info(token, &info, GEX_TI_ALL);
  loom_require((known & GEX_TI_SRCRANK) && info.gex_srcrank == (gex_Rank_t)from,
               "a greeting's source is not its sender");
  loom_require(!(known & GEX_TI_EP) || info.gex_ep == endpoint, "a token's endpoint is another");
  loom_require(!(known & GEX_TI_ENTRY) ||
                   (info.gex_entry->gex_index == HELLO && info.gex_entry->gex_cdata == &hellos &&
                    strcmp(info.gex_entry->gex_name, "hello") == 0),
               "a token's entry is another");
  atomic_fetch_add(&hellos, 1);
}

void loom_register(gex_AM_Entry_t* table, size_t entries) {
  loom_require(gex_EP_RegisterHandlers(endpoint, table, entries) == GASNET_OK, "no handlers");
  for (size_t i = 0; i < entries; ++i)
    loom_require(table[i].gex_index >= GEX_AM_INDEX_BASE, "a handler has no index");
}

/* Limits are asked for before there is a client: buffers are sized by them. */
static size_t least_medium;
static void ask_limits(void) {
  const size_t request = gex_AM_LUBRequestMedium(), reply = gex_AM_LUBReplyMedium();
  least_medium = request < reply ? request : reply;
  if (gex_AM_MaxArgs() >= 16 && least_medium >= 512 && gex_AM_LUBRequestLong() >= 512 &&
      gex_AM_LUBReplyLong() >= 512)
    return;
  fprintf(stderr, "limits are below what the specification promises\n");
  exit(1);
}

/* Kept, because handlers need them and may not ask. */
static char** bases;
static void attach_segment(void) {
  gex_Segment_t segment;
  const size_t size = (size_t)loom_ranks * LOOM_WORKERS * 2 * LOOM_SLOT;
  loom_require(gex_Segment_Attach(&segment, loom_team, size) == GASNET_OK, "no segment");
  loom_require(gex_Segment_QuerySize(segment) >= size, "the segment is too small");
  bases = calloc(loom_ranks, sizeof *bases);
  for (gex_Rank_t rank = 0; rank < loom_ranks; ++rank) {
    void* base = NULL;
    uintptr_t there = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(loom_team, rank, &base, NULL, &there, 0));
    loom_require(base != NULL && there >= size, "a segment of another rank is too small");
    bases[rank] = base;
  }
}

void loom_start(int* argc, char*** argv) {
  ask_limits();
  if (gex_Client_Init(&client, &endpoint, &loom_team, "loom-rt", argc, argv, 0) != GASNET_OK)
    exit(1);
  loom_me = gex_TM_QueryRank(loom_team);
  loom_ranks = gex_TM_QuerySize(loom_team);
  loom_require(strcmp(gex_Client_QueryName(client), "loom-rt") == 0,
               "the client's name is another");
  loom_require(
      least_medium <= gex_AM_MaxRequestMedium(loom_team, 0, GEX_EVENT_NOW, 0, gex_AM_MaxArgs()),
      "a least upper bound is above the bound");
  gex_AM_Entry_t core[] = {
      {HELLO, on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, &hellos, "hello"}};
  loom_register(core, 1);
  attach_segment();
  for (gex_Rank_t peer = 0; peer < loom_ranks; ++peer)
    gex_AM_RequestShort(loom_team, peer, HELLO, 0, (gex_AM_Arg_t)loom_me);
  GASNET_BLOCKUNTIL(atomic_load(&hellos) == loom_ranks);
}

char* loom_slot(gex_Rank_t owner, gex_Rank_t sender, int worker, bool reply) {
  const size_t slot = ((size_t)sender * LOOM_WORKERS + (size_t)worker) * 2 + (reply ? 1 : 0);
  return bases[owner] + slot * LOOM_SLOT;
}

/* Its own thread polls, and backs off when nothing has come for a while: ranks share processors. */
static void* make_progress(void* unused) {
  (void)unused;
  for (;;) {
    for (int i = 0; i < 50; ++i) gasnet_AMPoll();
    if (atomic_load(&who_ends) == PROGRESS_THREAD) gasnet_exit(0);
    gasnett_sched_yield();
  }
  return NULL;
}
void loom_start_progress(void) {
  loom_require(pthread_create(&progress, NULL, make_progress, NULL) == 0, "no progress thread");
}

void loom_sleep(sem_t* until) {
  while (sem_wait(until) != 0) loom_require(errno == EINTR, "a semaphore fails");
}

void loom_barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(loom_team, 0));
}

static void* end_rank(void* unused) {
  (void)unused;
  gasnet_exit(0);
  return NULL;
}
void loom_finish(void) {
  loom_barrier();
  printf("rank %u of %u: ok\n", (unsigned)loom_me, (unsigned)loom_ranks);
  fflush(stdout);
  const int chosen = MAIN_THREAD + (int)(loom_me % 4);
  pthread_t ending;
  if (chosen == RETURN_FROM_MAIN) return;
  if (chosen == MAIN_THREAD) gasnet_exit(0);
  if (chosen == ENDING_THREAD)
    loom_require(pthread_create(&ending, NULL, end_rank, NULL) == 0,
                 "no thread that ends the rank");
  atomic_store(&who_ends, chosen);
  for (;;) pause();
}
