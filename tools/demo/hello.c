/* hello: every rank stores its number into the next rank's segment. */
#define GASNET_SEQ 1
#include <gasnetex.h>
#include <stdio.h>

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Segment_t segment;
  void *mine, *theirs;
  if (gex_Client_Init(&client, &ep, &team, "HELLO", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK) gasnet_exit(1);
  const gex_Rank_t me = gex_TM_QueryRank(team), next = (me + 1) % gex_TM_QuerySize(team);
  gex_Segment_QueryBound(team, me, &mine, NULL, NULL);
  gex_Segment_QueryBound(team, next, &theirs, NULL, NULL);
  gex_RMA_PutBlocking(team, next, theirs, &me, sizeof me, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  printf("rank %u of %u: the rank before me is %u\n", me, gex_TM_QuerySize(team),
         *(volatile gex_Rank_t*)mine);
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
