// gex_VIS_*: vector, indexed and strided puts and gets.
#include "vis/vis.h"

#include <gasnet_vis.h>

#include "api/export.h"
#include "vis/peer_completion.h"

static_assert(GEX_VIS_MAX_PEERCOMPLETION == causeway::kMaxPeerCompletion);

using causeway::IndexedForm;
using causeway::Operation;
using causeway::StridedForm;
using causeway::VectorForm;

CAUSEWAY_API gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount,
                                             gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                                             size_t srccount, gex_Memvec_t const srclist[],
                                             gex_Flags_t flags) {
  return causeway::vis_nb({"gex_VIS_VectorGetNB()", Operation::get, tm, srcrank, flags},
                          VectorForm{dstcount, dstlist, srccount, srclist});
}
CAUSEWAY_API int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                      gex_Rank_t srcrank, size_t srccount,
                                      gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return causeway::vis_nbi({"gex_VIS_VectorGetNBI()", Operation::get, tm, srcrank, flags},
                           VectorForm{dstcount, dstlist, srccount, srclist});
}
CAUSEWAY_API int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount,
                                           gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                                           size_t srccount, gex_Memvec_t const srclist[],
                                           gex_Flags_t flags) {
  return causeway::vis_blocking({"gex_VIS_VectorGetBlocking()", Operation::get, tm, srcrank, flags},
                                VectorForm{dstcount, dstlist, srccount, srclist});
}
CAUSEWAY_API gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                             gex_Memvec_t const dstlist[], size_t srccount,
                                             gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return causeway::vis_nb({"gex_VIS_VectorPutNB()", Operation::put, tm, dstrank, flags},
                          VectorForm{dstcount, dstlist, srccount, srclist});
}
CAUSEWAY_API int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                      gex_Memvec_t const dstlist[], size_t srccount,
                                      gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return causeway::vis_nbi({"gex_VIS_VectorPutNBI()", Operation::put, tm, dstrank, flags},
                           VectorForm{dstcount, dstlist, srccount, srclist});
}
CAUSEWAY_API int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                           gex_Memvec_t const dstlist[], size_t srccount,
                                           gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return causeway::vis_blocking({"gex_VIS_VectorPutBlocking()", Operation::put, tm, dstrank, flags},
                                VectorForm{dstcount, dstlist, srccount, srclist});
}

CAUSEWAY_API gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                              size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                              void* const srclist[], size_t srclen,
                                              gex_Flags_t flags) {
  return causeway::vis_nb({"gex_VIS_IndexedGetNB()", Operation::get, tm, srcrank, flags},
                          IndexedForm{dstcount, dstlist, dstlen, srccount, srclist, srclen});
}
CAUSEWAY_API int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                       size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                       void* const srclist[], size_t srclen, gex_Flags_t flags) {
  return causeway::vis_nbi({"gex_VIS_IndexedGetNBI()", Operation::get, tm, srcrank, flags},
                           IndexedForm{dstcount, dstlist, dstlen, srccount, srclist, srclen});
}
CAUSEWAY_API int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                            size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                            void* const srclist[], size_t srclen,
                                            gex_Flags_t flags) {
  return causeway::vis_blocking(
      {"gex_VIS_IndexedGetBlocking()", Operation::get, tm, srcrank, flags},
      IndexedForm{dstcount, dstlist, dstlen, srccount, srclist, srclen});
}
CAUSEWAY_API gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                              void* const dstlist[], size_t dstlen, size_t srccount,
                                              void* const srclist[], size_t srclen,
                                              gex_Flags_t flags) {
  return causeway::vis_nb({"gex_VIS_IndexedPutNB()", Operation::put, tm, dstrank, flags},
                          IndexedForm{dstcount, dstlist, dstlen, srccount, srclist, srclen});
}
CAUSEWAY_API int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                       void* const dstlist[], size_t dstlen, size_t srccount,
                                       void* const srclist[], size_t srclen, gex_Flags_t flags) {
  return causeway::vis_nbi({"gex_VIS_IndexedPutNBI()", Operation::put, tm, dstrank, flags},
                           IndexedForm{dstcount, dstlist, dstlen, srccount, srclist, srclen});
}
CAUSEWAY_API int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                            void* const dstlist[], size_t dstlen, size_t srccount,
                                            void* const srclist[], size_t srclen,
                                            gex_Flags_t flags) {
  return causeway::vis_blocking(
      {"gex_VIS_IndexedPutBlocking()", Operation::put, tm, dstrank, flags},
      IndexedForm{dstcount, dstlist, dstlen, srccount, srclist, srclen});
}

CAUSEWAY_API gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void* dstaddr,
                                              const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                                              void* srcaddr, const ptrdiff_t srcstrides[],
                                              size_t elemsz, const size_t count[],
                                              size_t stridelevels, gex_Flags_t flags) {
  return causeway::vis_nb(
      {"gex_VIS_StridedGetNB()", Operation::get, tm, srcrank, flags},
      StridedForm{dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels});
}
CAUSEWAY_API int gex_VIS_StridedGetNBI(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                       gex_Rank_t srcrank, void* srcaddr,
                                       const ptrdiff_t srcstrides[], size_t elemsz,
                                       const size_t count[], size_t stridelevels,
                                       gex_Flags_t flags) {
  return causeway::vis_nbi(
      {"gex_VIS_StridedGetNBI()", Operation::get, tm, srcrank, flags},
      StridedForm{dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels});
}
CAUSEWAY_API int gex_VIS_StridedGetBlocking(gex_TM_t tm, void* dstaddr,
                                            const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                                            void* srcaddr, const ptrdiff_t srcstrides[],
                                            size_t elemsz, const size_t count[],
                                            size_t stridelevels, gex_Flags_t flags) {
  return causeway::vis_blocking(
      {"gex_VIS_StridedGetBlocking()", Operation::get, tm, srcrank, flags},
      StridedForm{dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels});
}
CAUSEWAY_API gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                              const ptrdiff_t dststrides[], void* srcaddr,
                                              const ptrdiff_t srcstrides[], size_t elemsz,
                                              const size_t count[], size_t stridelevels,
                                              gex_Flags_t flags) {
  return causeway::vis_nb(
      {"gex_VIS_StridedPutNB()", Operation::put, tm, dstrank, flags},
      StridedForm{dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels});
}
CAUSEWAY_API int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                       const ptrdiff_t dststrides[], void* srcaddr,
                                       const ptrdiff_t srcstrides[], size_t elemsz,
                                       const size_t count[], size_t stridelevels,
                                       gex_Flags_t flags) {
  return causeway::vis_nbi(
      {"gex_VIS_StridedPutNBI()", Operation::put, tm, dstrank, flags},
      StridedForm{dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels});
}
CAUSEWAY_API int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                            const ptrdiff_t dststrides[], void* srcaddr,
                                            const ptrdiff_t srcstrides[], size_t elemsz,
                                            const size_t count[], size_t stridelevels,
                                            gex_Flags_t flags) {
  return causeway::vis_blocking(
      {"gex_VIS_StridedPutBlocking()", Operation::put, tm, dstrank, flags},
      StridedForm{dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels});
}

CAUSEWAY_API void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                                   size_t nbytes, gex_Flags_t flags) {
  causeway::arm_peer_completion(handler, source_addr, nbytes, flags);
}
