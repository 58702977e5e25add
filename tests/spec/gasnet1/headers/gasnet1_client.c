/* A whole GASNet-1 client in C99, as a textbook has it: handlers without casts, a ring of puts,
 * gets and messages. Prints one line and ends with 0 when all is well. */
#include <gasnet.h>
#include <stdio.h>
#include <string.h>

static volatile int pongs;

static void ping(gasnet_token_t token, void* buffer, size_t bytes, gasnet_handlerarg_t arg) {
  if (bytes == 6 && memcmp(buffer, "hello", 6) == 0) gasnet_AMReplyShort1(token, 201, arg + 1);
}
static void pong(gasnet_token_t token, gasnet_handlerarg_t arg) {
  gasnet_node_t from;
  gasnet_AMGetMsgSource(token, &from);
  if (arg == 43 && from == (gasnet_mynode() + 1) % gasnet_nodes()) pongs = pongs + 1;
}

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "node %u: %s\n", (unsigned)gasnet_mynode(), what);
  gasnet_exit(1);
}

int main(int argc, char** argv) {
  gasnet_handlerentry_t handlers[] = {{200, ping}, {201, pong}};
  gasnet_seginfo_t segments[1024];
  gasnet_node_t me, next;
  int number;
  require(gasnet_init(&argc, &argv) == GASNET_OK, "init");
  me = gasnet_mynode();
  next = (me + 1) % gasnet_nodes();
  require(gasnet_attach(handlers, 2, 4 * GASNET_PAGESIZE, 0) == GASNET_OK, "attach");
  require(gasnet_getSegmentInfo(segments, 1024) == GASNET_OK, "segment info");
#if GASNET_ALIGNED_SEGMENTS
  require(segments[next].addr == segments[me].addr, "segments are not aligned");
#endif
  number = 1000 + (int)me;
  gasnet_put(next, segments[next].addr, &number, sizeof number);
  gasnet_barrier_notify(17, 0);
  require(gasnet_barrier_wait(17, 0) == GASNET_OK, "barrier");
  memcpy(&number, segments[me].addr, sizeof number);
  require(number == 1000 + (int)((me + gasnet_nodes() - 1) % gasnet_nodes()), "put");
  require(gasnet_get_val(next, segments[next].addr, 4) == 1000 + me, "get");
  gasnet_AMRequestMedium1(next, 200, "hello", 6, 42);
  GASNET_BLOCKUNTIL(pongs == 1);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (me == 0) printf("gasnet-1 client: %u nodes\n", (unsigned)gasnet_nodes());
  gasnet_exit(0);
  return 0;
}
