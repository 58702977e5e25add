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

// The calls gex_VIS_<form>NB, ...NBI and ...Blocking, which take one list of parameters. `rank` is
// the name of the peer's rank among them, and `form` is made of them.
#define CALLS_OF(call, form, operation, rank, ...)                                             \
  CAUSEWAY_API gex_Event_t call##NB(__VA_ARGS__) {                                             \
    return causeway::vis_nb({#call "NB()", Operation::operation, tm, rank, flags}, form);      \
  }                                                                                            \
  CAUSEWAY_API int call##NBI(__VA_ARGS__) {                                                    \
    return causeway::vis_nbi({#call "NBI()", Operation::operation, tm, rank, flags}, form);    \
  }                                                                                            \
  CAUSEWAY_API int call##Blocking(__VA_ARGS__) {                                               \
    return causeway::vis_blocking({#call "Blocking()", Operation::operation, tm, rank, flags}, \
                                  form);                                                       \
  }

#define VECTOR VectorForm({dstcount, dstlist, srccount, srclist})
CALLS_OF(gex_VIS_VectorGet, VECTOR, get, srcrank, gex_TM_t tm, size_t dstcount,
         const gex_Memvec_t dstlist[], gex_Rank_t srcrank, size_t srccount,
         const gex_Memvec_t srclist[], gex_Flags_t flags)
CALLS_OF(gex_VIS_VectorPut, VECTOR, put, dstrank, gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
         const gex_Memvec_t dstlist[], size_t srccount, const gex_Memvec_t srclist[],
         gex_Flags_t flags)
#undef VECTOR

#define INDEXED IndexedForm({dstcount, dstlist, dstlen, srccount, srclist, srclen})
CALLS_OF(gex_VIS_IndexedGet, INDEXED, get, srcrank, gex_TM_t tm, size_t dstcount,
         void* const dstlist[], size_t dstlen, gex_Rank_t srcrank, size_t srccount,
         void* const srclist[], size_t srclen, gex_Flags_t flags)
CALLS_OF(gex_VIS_IndexedPut, INDEXED, put, dstrank, gex_TM_t tm, gex_Rank_t dstrank,
         size_t dstcount, void* const dstlist[], size_t dstlen, size_t srccount,
         void* const srclist[], size_t srclen, gex_Flags_t flags)
#undef INDEXED

#define STRIDED StridedForm({dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels})
CALLS_OF(gex_VIS_StridedGet, STRIDED, get, srcrank, gex_TM_t tm, void* dstaddr,
         const ptrdiff_t dststrides[], gex_Rank_t srcrank, void* srcaddr,
         const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels,
         gex_Flags_t flags)
CALLS_OF(gex_VIS_StridedPut, STRIDED, put, dstrank, gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
         const ptrdiff_t dststrides[], void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
         const size_t count[], size_t stridelevels, gex_Flags_t flags)
#undef STRIDED
#undef CALLS_OF

CAUSEWAY_API void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                                   size_t nbytes, gex_Flags_t flags) {
  causeway::arm_peer_completion(handler, source_addr, nbytes, flags);
}
