/* A client of a vendor's memory kind: every rank puts a pattern from the host into its neighbor's
 * memory, moves it on within that kind, and gets it back. Prints "rank R of N: ok". */
#define GASNET_SEQ 1
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 3 << 20, PART = 300000 };

static char out[PART], back[PART];

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t host_ep, ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_MK_t kind;
  gex_MK_Create_args_t args;
  void* there;
  gex_Client_Init(&client, &host_ep, &tm, "VENDOR", &argc, &argv, 0);
  memset(&args, 0, sizeof args);
  args.gex_class = CWY_MK_CLASS_PLUGIN;
  args.gex_args.cwy_class_plugin.cwy_name = "attic";
  if (gex_MK_Create(&kind, client, &args, 0) != GASNET_OK) return 1;
  if (gex_Segment_Create(&segment, client, NULL, BYTES, kind, 0) != GASNET_OK) return 1;
  if (gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK) return 1;
  if (gex_EP_BindSegment(ep, segment, 0) != GASNET_OK) return 1;
  if (gex_EP_PublishBoundSegment(tm, &ep, 1, 0) != GASNET_OK) return 1;
  const gex_Rank_t me = gex_TM_QueryRank(tm), n = gex_TM_QuerySize(tm), peer = (me + 1) % n;
  const gex_TM_t from_host = gex_TM_Pair(host_ep, gex_EP_QueryIndex(ep));
  const gex_TM_t from_kind = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  for (int i = 0; i < PART; ++i) out[i] = (char)(i * 7 + (int)me);
  gex_Segment_QueryBound(from_host, peer, &there, NULL, NULL);
  gex_RMA_PutBlocking(from_host, peer, there, out, PART, 0);
  /* From the neighbor's memory into this rank's, and from there into the neighbor's again. */
  char* const here = (char*)gex_Segment_QueryAddr(segment) + (1 << 20);
  gex_RMA_GetBlocking(from_kind, here, peer, there, PART, 0);
  gex_RMA_PutBlocking(from_kind, peer, (char*)there + (2 << 20), here, PART, 0);
  gex_RMA_GetBlocking(from_host, back, peer, (char*)there + (2 << 20), PART, 0);
  const int good = memcmp(out, back, PART) == 0;
  printf("rank %u of %u: %s\n", (unsigned)me, (unsigned)n, good ? "ok" : "wrong bytes");
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gex_Segment_Destroy(segment, 0);
  gex_MK_Destroy(kind, 0);
  gasnet_exit(!good);
}
