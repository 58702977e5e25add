/* Compiled as C and as C++ of every level: gasnet_vis.h needs nothing before it, twice is once, and
 * every call takes the arguments that the specification gives it. */
#include <gasnet_vis.h>
#include <gasnetex.h>

int use_vis(gex_TM_t tm, void* p);
int use_vis(gex_TM_t tm, void* p) {
  const gex_Memvec_t list[2] = {{0, 0}, {0, 0}};
  void* const addresses[2] = {0, 0};
  const ptrdiff_t strides[2] = {-8, 64};
  const size_t count[2] = {4, 4};
  gex_Event_t event;
  int sum = 0;
  event = gex_VIS_VectorGetNB(tm, 2, list, 0, 2, list, 0);
  event = gex_VIS_VectorPutNB(tm, 0, 2, list, 2, list, GEX_FLAG_ENABLE_LEAF_LC);
  event = gex_VIS_IndexedGetNB(tm, 2, addresses, 8, 0, 1, addresses, 16, 0);
  event = gex_VIS_IndexedPutNB(tm, 0, 2, addresses, 8, 1, addresses, 16, 0);
  event = gex_VIS_StridedGetNB(tm, p, strides, 0, p, strides, 8, count, 2, 0);
  event = gex_VIS_StridedPutNB(tm, 0, p, strides, p, strides, 8, count, 2, 0);
  sum += gex_VIS_VectorGetNBI(tm, 2, list, 0, 2, list, 0);
  sum += gex_VIS_VectorPutNBI(tm, 0, 2, list, 2, list, 0);
  sum += gex_VIS_IndexedGetNBI(tm, 2, addresses, 8, 0, 1, addresses, 16, 0);
  sum += gex_VIS_IndexedPutNBI(tm, 0, 2, addresses, 8, 1, addresses, 16, 0);
  sum += gex_VIS_StridedGetNBI(tm, p, strides, 0, p, strides, 8, count, 2, 0);
  sum += gex_VIS_StridedPutNBI(tm, 0, p, strides, p, strides, 8, count, 2, 0);
  sum += gex_VIS_VectorGetBlocking(tm, 2, list, 0, 2, list, 0);
  sum += gex_VIS_VectorPutBlocking(tm, 0, 2, list, 2, list, 0);
  sum += gex_VIS_IndexedGetBlocking(tm, 2, addresses, 8, 0, 1, addresses, 16, 0);
  sum += gex_VIS_IndexedPutBlocking(tm, 0, 2, addresses, 8, 1, addresses, 16, 0);
  sum += gex_VIS_StridedGetBlocking(tm, p, strides, 0, p, strides, 8, count, 2, 0);
  sum += gex_VIS_StridedPutBlocking(tm, 0, p, strides, p, strides, 8, count, 2, 0);
  gex_VIS_SetPeerCompletionHandler(200, p, GEX_VIS_MAX_PEERCOMPLETION, 0);
  return sum + (event == GEX_EVENT_INVALID);
}
