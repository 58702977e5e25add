/* A client as its build for some GASNet conduit compiles it, valid as C99 and C++. Every rank sends
 * its neighbor an active message and puts to it. Arguments ask for one thing more:
 *   exit CODE      ends with this status
 *   nbrhd N        a neighborhood has N ranks
 *   thread 0|1     whether handlers run while no rank polls
 *   segment BYTES  the largest segment has this size */
#include <gasnet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strictly one macro, with the value 1. */
#ifdef GASNET_CONDUIT_SMP
static const int SMP = GASNET_CONDUIT_SMP;
#else
static const int SMP = 0;
#endif
#ifdef GASNET_CONDUIT_UDP
static const int UDP = GASNET_CONDUIT_UDP;
#else
static const int UDP = 0;
#endif
#ifdef GASNET_CONDUIT_MPI
static const int MPI = GASNET_CONDUIT_MPI;
#else
static const int MPI = 0;
#endif
#ifdef GASNET_CONDUIT_IBV
static const int IBV = GASNET_CONDUIT_IBV;
#else
static const int IBV = 0;
#endif
#ifdef GASNET_CONDUIT_OFI
static const int OFI = GASNET_CONDUIT_OFI;
#else
static const int OFI = 0;
#endif
#ifdef GASNET_CONDUIT_UCX
static const int UCX = GASNET_CONDUIT_UCX;
#else
static const int UCX = 0;
#endif

enum { PING = 200, SEGMENT_BYTES = 65536 };
static volatile int pings;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)gasnet_mynode(), what);
  gasnet_exit(1);
}

static void ping(gasnet_token_t token, gasnet_handlerarg_t from) {
  gasnet_node_t sender;
  gasnet_AMGetMsgSource(token, &sender);
  check((gasnet_handlerarg_t)sender == from, "the sender is not who it says");
  pings = pings + 1;
}

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  check(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK, "barrier");
}

static char* last_byte(gasnet_node_t node) {
  gasnet_seginfo_t segments[16];
  check(gasnet_nodes() <= 16 && gasnet_getSegmentInfo(segments, 16) == GASNET_OK, "segments");
  return (char*)segments[node].addr + SEGMENT_BYTES - 1;
}

/* Rank 1 says in its segment that it makes no call from now on; then rank 0 sends it a message. */
static void send_to_the_silent(void) {
  char silent = 0;
  while (!silent) gasnet_get(&silent, 1, last_byte(1), 1);
  gasnet_AMRequestShort1(1, PING, 0);
}

static int comes_without_polling(int patience) {
  int i;
  *(volatile char*)last_byte(1) = 1;
  for (i = 0; i < patience && pings < 2; i++) gasnett_nsleep(10000000);
  return pings == 2;
}

static void exercise(gasnet_node_t next) {
  static char block[4096];
  gasnet_seginfo_t* segments = (gasnet_seginfo_t*)calloc(gasnet_nodes(), sizeof *segments);
  check(segments != NULL && gasnet_getSegmentInfo(segments, (int)gasnet_nodes()) == GASNET_OK,
        "segments");
  gasnet_AMRequestShort1(next, PING, (gasnet_handlerarg_t)gasnet_mynode());
  memset(block, (int)gasnet_mynode() + 1, sizeof block);
  gasnet_put(next, segments[next].addr, block, sizeof block);
  GASNET_BLOCKUNTIL(pings == 1);
  barrier();
  gasnet_get(block, next, segments[next].addr, sizeof block);
  check(block[0] == (char)(gasnet_mynode() + 1) && block[4095] == block[0],
        "another block comes back");
  free(segments);
}

/* What smp promises to code: the neighbor's segment has an address here. */
static void reach_in(gasnet_node_t next) {
  gex_TM_t tm;
  void* mapped = NULL;
  gasnet_QueryGexObjects(NULL, NULL, &tm, NULL);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, NULL, &mapped, NULL, 0));
  check(mapped != NULL && *(volatile char*)mapped == (char)(gasnet_mynode() + 1),
        "the neighbor's segment is not in reach");
}

/* Ranks end by exit(), each a while after the one before, and nobody misses anybody. */
static void leave_one_by_one(void) {
  barrier();
  gasnett_nsleep(1500000000ull * gasnet_mynode());
  printf("rank %u of %u: left ok\n", (unsigned)gasnet_mynode(), (unsigned)gasnet_nodes());
  fflush(stdout);
  exit(0);
}

static int catches_sigquit(void) {
  void (*before)(int) = signal(SIGQUIT, SIG_DFL);
  signal(SIGQUIT, before);
  return before != SIG_DFL;
}

static gex_Rank_t host_count(void) {
  gex_Rank_t hosts;
  gex_System_QueryMyPosition(NULL, NULL, &hosts, NULL);
  return hosts;
}

static size_t scratch_wanted(void) {
  gex_TM_t tm, part;
  gasnet_QueryGexObjects(NULL, NULL, &tm, NULL);
  return gex_TM_Split(&part, tm, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
}

int main(int argc, char** argv) {
  gasnet_handlerentry_t table[1];
  gex_Rank_t neighbors;
  gasnet_node_t next;
  const char* wish;
  long value;
  check(SMP + UDP + MPI + IBV + OFI + UCX == 1, "not exactly one GASNET_CONDUIT_ macro");
  check(gasnet_init(&argc, &argv) == GASNET_OK, "gasnet_init");
  wish = argc > 2 ? argv[1] : "";
  value = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(wish, "segment") == 0)
    check((long)gasnet_getMaxLocalSegmentSize() == value, "another largest segment");
  table[0].index = PING;
  table[0].fnptr = (void (*)())ping;
  check(gasnet_attach(table, 1, SEGMENT_BYTES, 0) == GASNET_OK, "gasnet_attach");
  next = (gasnet_node_t)((gasnet_mynode() + 1) % gasnet_nodes());
  if (strcmp(wish, "leave") == 0) leave_one_by_one();
  if (strcmp(wish, "signals") == 0) check(catches_sigquit() == (int)value, "SIGQUIT");
  if (strcmp(wish, "hosts") == 0) check((long)host_count() == value, "another number of hosts");
  if (strcmp(wish, "scratch") == 0) check((long)scratch_wanted() == value, "another scratch");
  if (strcmp(wish, "raise") == 0) raise((int)value);
  barrier();
  exercise(next);
  gex_System_QueryNbrhdInfo(NULL, &neighbors, NULL);
  if (strcmp(wish, "nbrhd") == 0) check((long)neighbors == value, "another neighborhood");
  if (SMP) check(neighbors == gasnet_nodes(), "ranks that do not share memory");
  if (SMP) reach_in(next);
  if (strcmp(wish, "thread") == 0) {
    barrier();
    if (gasnet_mynode() == 0) send_to_the_silent();
    if (gasnet_mynode() == 1)
      check(comes_without_polling(value ? 3000 : 100) == (int)value,
            "handlers and the progress thread");
  }
  printf("rank %u of %u: %s ok\n", (unsigned)gasnet_mynode(), (unsigned)gasnet_nodes(),
         GASNET_CONDUIT_NAME_STR);
  fflush(stdout);
  barrier();
  gasnet_exit(strcmp(wish, "exit") == 0 ? (int)value : 0);
}
