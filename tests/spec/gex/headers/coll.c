/* Compiled as C and as C++ of every level: gasnet_coll.h needs nothing before it, twice is once,
 * and its calls take what the specification says. */
#include <gasnet_coll.h>

static void sum(const void* left, void* right, size_t count, const void* cdata) {
  const int32_t* l = (const int32_t*)left;
  int32_t* r = (int32_t*)right;
  size_t i;
  (void)cdata;
  for (i = 0; i < count; ++i) r[i] += l[i];
}

int use_coll(gex_TM_t tm, void* p);
int use_coll(gex_TM_t tm, void* p) {
  gex_Coll_ReduceFn_t fn = sum;
  gex_Event_t events[4];
  events[0] = gex_Coll_BarrierNB(tm, 0);
  events[1] = gex_Coll_BroadcastNB(tm, 0, p, p, (size_t)8, 0);
  events[2] = gex_Coll_ReduceToOneNB(tm, 0, p, p, GEX_DT_I32, sizeof(int32_t), (size_t)2,
                                     GEX_OP_USER_NC, fn, NULL, 0);
  events[3] =
      gex_Coll_ReduceToAllNB(tm, p, p, GEX_DT_USER, (size_t)12, (size_t)3, GEX_OP_USER, fn, p, 0);
  gex_Event_WaitAll(events, 4, 0);
  return 0;
}
