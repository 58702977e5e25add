/* A client of the installed library, valid as C99, C++11 and C++20: every rank sends its
 * neighbor a medium active message, puts to it, reads back, and checks every byte. Prints one
 * line per rank; any difference ends the job with status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GASNET_SEQ
#include <gasnetex.h>

enum { SEGMENT_BYTES = 1 << 20, BLOCK_BYTES = 300000, PING = GEX_AM_INDEX_BASE, PONG };

static volatile int pings, pongs;
static gex_Rank_t me, job_size;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %u: %s\n", (unsigned)me, what);
  gasnet_exit(1);
}

static void ping(gex_Token_t token, void* payload, size_t length, gex_AM_Arg_t from) {
  check(length == 26 && memcmp(payload, "abcdefghijklmnopqrstuvwxyz", 26) == 0, "wrong payload");
  check(from == (gex_AM_Arg_t)((me + job_size - 1) % job_size), "ping from the wrong rank");
  pings = pings + 1;
  gex_AM_ReplyShort(token, PONG, 0, 2 * from);
}

static void pong(gex_Token_t token, gex_AM_Arg_t twice) {
  (void)token;
  check(twice == (gex_AM_Arg_t)(2 * me), "wrong argument in the reply");
  pongs = pongs + 1;
}

static void barrier(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static unsigned char pattern(gex_Rank_t rank, size_t at) {
  return (unsigned char)(7 * rank + 31 * at + (at >> 8));
}

/* Puts a block into the neighbor's segment, and gets another back, whatever the transport. */
static void put_and_get(gex_TM_t tm, gex_Rank_t next) {
  unsigned char* block = (unsigned char*)malloc(BLOCK_BYTES);
  void *mine, *theirs, *mapped;
  uintptr_t size;
  size_t at;
  check(gex_Segment_QueryBound(tm, me, &mine, &mapped, &size) == 0, "no segment of mine");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, &theirs, &mapped, &size, 0));
  check(size >= SEGMENT_BYTES, "the peer's segment is too small");
  for (at = 0; at < BLOCK_BYTES; at++) block[at] = pattern(me, at);
  gex_RMA_PutBlocking(tm, next, theirs, block, BLOCK_BYTES, 0);
  barrier(tm);
  for (at = 0; at < BLOCK_BYTES; at++)
    check(((unsigned char*)mine)[at] == pattern((me + job_size - 1) % job_size, at),
          "the block put into my segment differs");
  memset(block, 0, BLOCK_BYTES);
  gex_Event_Wait(gex_RMA_GetNB(tm, block, next, theirs, BLOCK_BYTES, 0));
  for (at = 0; at < BLOCK_BYTES; at++)
    check(block[at] == pattern(me, at), "the block read back differs");
  free(block);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_AM_Entry_t table[2];
  memset(table, 0, sizeof table);
  table[0].gex_index = PING;
  table[0].gex_fnptr = (gex_AM_Fn_t)ping;
  table[0].gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM;
  table[0].gex_nargs = 1;
  table[1].gex_index = PONG;
  table[1].gex_fnptr = (gex_AM_Fn_t)pong;
  table[1].gex_flags = GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT;
  table[1].gex_nargs = 1;

  if (gex_Client_Init(&client, &ep, &tm, "INSTALL_TEST", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_TM_QueryRank(tm);
  job_size = gex_TM_QuerySize(tm);
  check(gex_EP_RegisterHandlers(ep, table, 2) == GASNET_OK, "handlers are refused");
  check(gex_Segment_Attach(&segment, tm, SEGMENT_BYTES) == GASNET_OK, "no segment");
  barrier(tm);

  const gex_Rank_t next = (me + 1) % job_size;
  gex_AM_RequestMedium(tm, next, PING, "abcdefghijklmnopqrstuvwxyz", 26, GEX_EVENT_NOW, 0,
                       (gex_AM_Arg_t)me);
  GASNET_BLOCKUNTIL(pings == 1 && pongs == 1);
  put_and_get(tm, next);
  printf("rank %u of %u: ok\n", (unsigned)me, (unsigned)job_size);
  fflush(stdout);
  barrier(tm);
  gasnet_exit(0);
}
