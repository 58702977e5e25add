/* The tools in a job: the built-in self test over whatever reaches the ranks, all of it and in
 * parts, with and without handlers, with each of its argument lists; the blocking barrier. */
#include <gasnet.h>
#include <gasnet_tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT (16 * GASNET_PAGESIZE)

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)gasnet_mynode(), what);
  gasnet_exit(1);
}

/* The client names the team, and its own memory or everybody's: transfers go there and nowhere
 * else. Would catch an argument list whose transfers are left out, or write to the segment's
 * beginning whatever the client says. */
static void over_a_team(gex_TM_t tm, const gasnet_seginfo_t* segments) {
  const gasnet_node_t me = gasnet_mynode(), next = (me + 1) % gasnet_nodes();
  uint64_t* const words = (uint64_t*)segments[me].addr;
  uint64_t* const theirs = (uint64_t*)segments[next].addr;
  gex_TM_t copy;
  memset(words, 0, 4096);
  gex_Coll_BarrierBlocking(tm, 0);
  check(gasnett_run_diagnostics(5, 1, "R", tm, words + 64, next, theirs + 64) == 0, "my memory");
  check(words[64 + next] != 0 && words[0] == 0, "transfers with my memory");
  check(gasnett_run_diagnostics(5, 1, "R", tm, segments) == 0, "everybody's");
  check(words[next] != 0, "transfers with everybody's");
  check(gasnett_run_diagnostics(5, 1, "R", tm, NULL, next, NULL) == 0, "no memory");
  gex_TM_Split(&copy, tm, 0, (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  check(gasnett_run_diagnostics(5, 1, "R", copy, words, next, theirs) == 0, "another team");
  gex_TM_Destroy(copy, NULL, 0);
}

int main(int argc, char** argv) {
  gasnet_seginfo_t segments[16];
  gex_AM_Entry_t* handlers = NULL;
  gex_EP_t ep;
  gex_TM_t tm;
  int count = 0, i;
  check(gasnet_init(&argc, &argv) == GASNET_OK, "gasnet_init");
  check(gasnet_attach(NULL, 0, SEGMENT, 0) == GASNET_OK, "gasnet_attach");
  check(gasnet_getSegmentInfo(segments, 16) == GASNET_OK, "gasnet_getSegmentInfo");
  gasnet_QueryGexObjects(NULL, &ep, &tm, NULL);
  /* Without handlers: everything but the messages. */
  check(gasnett_run_diagnostics(5, 1, "ALTD", NULL) == 0, "local parts");
  check(gasnett_run_diagnostics(5, 1, NULL, segments) == 0, "without handlers");
  over_a_team(tm, segments);
  gasnett_diagnostic_gethandlers(&handlers, &count);
  check(handlers != NULL && count > 0, "gasnett_diagnostic_gethandlers");
  check(gex_EP_RegisterHandlers(ep, handlers, (size_t)count) == GASNET_OK, "registration");
  for (i = 0; i < count; i++) check(handlers[i].gex_index >= 128, "an index");
  gex_Coll_BarrierBlocking(tm, 0);
  check(gasnett_run_diagnostics(50, 3, NULL, segments) == 0, "all of it");
  check(gasnett_run_diagnostics(300, 1, "M", NULL) == 0, "messages");
  gex_Coll_BarrierBlocking(tm, 0);
  gasnet_exit(0);
  return 0;
}
