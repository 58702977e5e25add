/* A program for GASNET_SEGMENT_EVERYTHING: its neighbor's stack, heap and globals are targets.
 * Prints "rank R of N: ... ok". C99 and C++. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GASNET_SEGMENT_EVERYTHING
#error "the flags do not say EVERYTHING"
#endif

static char global[5000];

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)gasnet_mynode(), what);
  gasnet_exit(1);
}

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  check(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK, "barrier");
}

/* Writes into `place` of the neighbor and reads it back; what lies here is the other neighbor's. */
static void exercise(char* place) {
  static char got[5000], data[5000];
  char** places = (char**)calloc(gasnet_nodes(), sizeof *places);
  gasnet_node_t next = (gasnet_node_t)((gasnet_mynode() + 1) % gasnet_nodes());
  gasnet_node_t before = (gasnet_node_t)((gasnet_mynode() + gasnet_nodes() - 1) % gasnet_nodes());
  check(places != NULL, "memory");
  gasnet_coll_gather_all(GASNET_TEAM_ALL, places, &place, sizeof place,
                         GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL);
  memset(data, (int)gasnet_mynode() + 1, sizeof data);
  gasnet_put(next, places[next], data, sizeof data);
  gasnet_get(got, next, places[next], sizeof got);
  check(memcmp(got, data, sizeof data) == 0, "another block comes back");
  barrier();
  check(place[0] == (char)(before + 1) && place[4999] == place[0],
        "the neighbor's put is not here");
  barrier();
  free(places);
}

int main(int argc, char** argv) {
  char stack[5000];
  char* heap = (char*)malloc(5000);
  check(gasnet_init(&argc, &argv) == GASNET_OK, "gasnet_init");
  check(gasnet_getMaxLocalSegmentSize() == (uintptr_t)-1, "a limit");
  check(gasnet_attach(NULL, 0, 0, 0) == GASNET_OK, "gasnet_attach");
  check(heap != NULL, "memory");
  exercise(stack);
  exercise(heap);
  exercise(global);
  printf("rank %u of %u: %s ok\n", (unsigned)gasnet_mynode(), (unsigned)gasnet_nodes(),
         GASNET_CONDUIT_NAME_STR);
  fflush(stdout);
  barrier();
  gasnet_exit(0);
}
