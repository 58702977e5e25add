/* Over GASNet-EX: each rank hands the sum on by an active message. The square root is one of libm,
 * which this build does not ask for: it relies on the libraries that GASNet's flags name. */
#include "ring.h"

#include <gasnetex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gex_TM_t everybody;
static gex_AM_Index_t pass_index;
static volatile int arrived;
static volatile double sum;

static void pass(gex_Token_t token, void* buffer, size_t bytes) {
  double value;
  (void)token;
  memcpy(&value, buffer, bytes);
  sum = value;
  gasnett_local_wmb();
  arrived = 1;
}

void ring_start(int* argc, char*** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)pass, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "pass"};
  if (gex_Client_Init(&client, &ep, &everybody, "ring", argc, argv, 0)) exit(2);
  if (gex_EP_RegisterHandlers(ep, &entry, 1)) gasnet_exit(2);
  pass_index = entry.gex_index;
  gex_Event_Wait(gex_Coll_BarrierNB(everybody, 0));
}

unsigned ring_rank(void) {
  return gex_TM_QueryRank(everybody);
}

unsigned ring_size(void) {
  return gex_TM_QuerySize(everybody);
}

int ring_checked(void) {
#ifdef GASNET_DEBUG
  return 1;
#else
  return 0;
#endif
}

static void hand_on(double value) {
  const gex_Rank_t next = (gex_Rank_t)((ring_rank() + 1) % ring_size());
  gex_AM_RequestMedium0(everybody, next, pass_index, &value, sizeof value, GEX_EVENT_NOW, 0);
}

/* Twice around: the sum comes together, then everybody is told. */
double ring_norm(double mine) {
  double total;
  if (ring_rank() == 0) hand_on(mine * mine);
  GASNET_BLOCKUNTIL(arrived);
  arrived = 0;
  total = sum;
  if (ring_rank() == 0) {
    hand_on(total);
    GASNET_BLOCKUNTIL(arrived);
  } else {
    hand_on(total + mine * mine);
    GASNET_BLOCKUNTIL(arrived);
    total = sum;
    hand_on(total);
  }
  arrived = 0;
  gex_Event_Wait(gex_Coll_BarrierNB(everybody, 0));
  return sqrt(total);
}

void ring_end(int status) {
  fflush(stdout);
  gex_Event_Wait(gex_Coll_BarrierNB(everybody, 0));
  gasnet_exit(status);
}
