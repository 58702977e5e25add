/* A whole client in C99: the headers' inline functions, C linkage and the counting macros, linked
 * with a C++ library. Run on several ranks; prints one line and ends with 0 when all is well. */
#include <gasnetex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* wrong_value(void); /* values.c */

static volatile int replies;
static gex_Rank_t me, ranks;

static void on_reply(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  if (value == 43) replies = replies + 1;
}

static void on_request(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t value) {
  if (bytes == 6 && memcmp(buffer, "hello", 6) == 0) gex_AM_ReplyShort(token, 201, 0, value + 1);
}

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)me, what);
  gasnet_exit(1);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_AM_Entry_t table[2];
  const char* wrong;
  void* peer_base;
  gex_Rank_t peer;
  uint32_t number;
  wrong = wrong_value();
  if (wrong != NULL) {
    fprintf(stderr, "not the value that clients compare with: %s\n", wrong);
    return 1;
  }
  memset(table, 0, sizeof table);
  table[0].gex_index = 200;
  table[0].gex_fnptr = (gex_AM_Fn_t)on_request;
  table[0].gex_flags = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  table[0].gex_nargs = 1;
  table[1].gex_index = 201;
  table[1].gex_fnptr = (gex_AM_Fn_t)on_reply;
  table[1].gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY;
  table[1].gex_nargs = 1;

  require(gex_Client_Init(&client, &ep, &tm, "C_CLIENT", &argc, &argv, 0) == GASNET_OK, "init");
  me = gex_TM_QueryRank(tm);
  ranks = gex_TM_QuerySize(tm);
  peer = (me + 1) % ranks;
  require(gex_EP_RegisterHandlers(ep, table, 2) == GASNET_OK, "register");
  require(gex_Segment_Attach(&segment, tm, 16 * GASNET_PAGESIZE) == GASNET_OK, "attach");
  require(gex_Segment_QueryBound(tm, peer, &peer_base, NULL, NULL) == 0, "query bound");

  number = 1000 + me;
  gex_RMA_PutBlocking(tm, peer, peer_base, &number, sizeof number, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  memcpy(&number, gex_Segment_QueryAddr(segment), sizeof number);
  require(number == 1000 + (me + ranks - 1) % ranks, "the neighbor's put did not arrive");
  require(gex_RMA_GetBlockingVal(tm, peer, peer_base, 4, 0) == 1000 + me, "get value");
  gex_AM_RequestMedium(tm, peer, 200, "hello", 6, GEX_EVENT_NOW, 0, 42);
  GASNET_BLOCKUNTIL(replies == 1);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (me == 0) printf("c client: %u ranks\n", (unsigned)ranks);
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* gasnet_exit() of another rank ends this one too */
  gasnet_exit(0);
}
