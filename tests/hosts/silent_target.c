/* First contact with ranks that make no call, over a conduit whose puts need nothing of their
 * target. Of six ranks the odd ones are leaves of the trees by which collectives run, so no two of
 * them met while the program started.
 *
 * Rank 5 puts to rank 1, which looks at its own memory only. Then ranks 1 and 3 contact each other
 * at once: rank 1 begins a put and makes no call until that of rank 3 has come, which makes none
 * either while the first contact arrives. Would catch: a first contact that waits for the target's
 * next call, on either side.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <gasnet_coll.h>
#include <gasnetex.h>
#include <stdio.h>
#include <unistd.h>

static gex_TM_t team;
static volatile uint64_t* words; /* of the own segment, one for each writer */

static void* word_at(gex_Rank_t rank, gex_Rank_t writer) {
  void* base = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &base, NULL, NULL, 0));
  return (char*)base + writer * sizeof(uint64_t);
}

static void wait_without_a_call(gex_Rank_t writer) {
  while (words[writer] == 0) usleep(1000);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &team, "silent_target", &argc, &argv, 0);
  gex_Segment_Attach(&segment, team, 4096);
  words = gex_Segment_QueryAddr(segment);
  const gex_Rank_t me = gex_TM_QueryRank(team);
  if (gex_TM_QuerySize(team) != 6) {
    fprintf(stderr, "silent_target: six ranks are wanted\n");
    return 2;
  }
  uint64_t one = 1;
  if (me == 5) {
    usleep(500000); /* until the others make no calls */
    gex_RMA_PutBlocking(team, 1, word_at(1, 5), &one, sizeof one, 0);
  } else if (me == 1) {
    wait_without_a_call(5);
    gex_RMA_PutNBI(team, 3, word_at(3, 1), &one, sizeof one, GEX_EVENT_DEFER, 0);
    wait_without_a_call(3);
    gex_NBI_Wait(GEX_EC_ALL, 0);
  } else if (me == 3) {
    usleep(1500000); /* until the first contact has come, if it comes soon */
    gex_RMA_PutBlocking(team, 1, word_at(1, 3), &one, sizeof one, 0);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 3 && words[1] != 1) {
    fprintf(stderr, "silent_target: rank 1's put did not come\n");
    return 1;
  }
  if (me == 0) printf("silent_target: well\n");
  return 0;
}
