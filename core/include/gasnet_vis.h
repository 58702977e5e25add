/* gasnet_vis.h - vector, indexed and strided puts and gets of GASNet-EX, for C99 and C++11 or
 * later.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * GASNet-EX API v0.18, "Vector/Indexed/Strided (VIS)". Sizes, strides and lengths are in bytes.
 * The client keeps every array and buffer; the lists of vector and indexed calls must stay
 * unchanged until the operation is complete, the strides and counts of strided calls only until
 * the call returns. Any thread may call, outside handlers and without handler-safe locks. Mistakes
 * end the job with one line that names rank and call; `checks: full` finds more of them.
 *
 * Chosen here, where the specification leaves it open:
 *  - GEX_FLAG_SELF_SEG_OFFSET and GEX_FLAG_PEER_SEG_OFFSET make every address of the local or the
 *    remote end an offset, as they do in gex_RMA_*; TM-pairs are accepted;
 *  - GEX_FLAG_PEER_SEG_SOME and GEX_FLAG_PEER_SEG_UNKNOWN reach memory beyond the peer's bound
 *    segment, as they do in gex_RMA_*, always by messages;
 *  - GEX_FLAG_ENABLE_LEAF_LC is ignored where it means nothing (gets, blocking puts);
 *  - a put of no bytes runs an armed peer-completion handler, at the peer it names.
 */
#ifndef _INCLUDED_GASNET_VIS_H
#define _INCLUDED_GASNET_VIS_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NB calls return the event of the operation, GEX_EVENT_INVALID when it is complete already;
 * GEX_EVENT_NO_OP, or non-zero from NBI and Blocking calls, means that nothing was begun
 * (GEX_FLAG_IMMEDIATE only). */

/* Lists of pieces of any length; both ends must have equally many bytes. */
extern gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                       gex_Rank_t srcrank, size_t srccount,
                                       gex_Memvec_t const srclist[], gex_Flags_t flags);
extern int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags);
extern int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                     gex_Rank_t srcrank, size_t srccount,
                                     gex_Memvec_t const srclist[], gex_Flags_t flags);
extern gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                       gex_Memvec_t const dstlist[], size_t srccount,
                                       gex_Memvec_t const srclist[], gex_Flags_t flags);
extern int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                gex_Memvec_t const dstlist[], size_t srccount,
                                gex_Memvec_t const srclist[], gex_Flags_t flags);
extern int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                     gex_Memvec_t const dstlist[], size_t srccount,
                                     gex_Memvec_t const srclist[], gex_Flags_t flags);

/* Lists of addresses of pieces of one length at each end. */
extern gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                        size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                        void* const srclist[], size_t srclen, gex_Flags_t flags);
extern int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,
                                 gex_Rank_t srcrank, size_t srccount, void* const srclist[],
                                 size_t srclen, gex_Flags_t flags);
extern int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void* const dstlist[],
                                      size_t dstlen, gex_Rank_t srcrank, size_t srccount,
                                      void* const srclist[], size_t srclen, gex_Flags_t flags);
extern gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                        void* const dstlist[], size_t dstlen, size_t srccount,
                                        void* const srclist[], size_t srclen, gex_Flags_t flags);
extern int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                 void* const dstlist[], size_t dstlen, size_t srccount,
                                 void* const srclist[], size_t srclen, gex_Flags_t flags);
extern int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                      void* const dstlist[], size_t dstlen, size_t srccount,
                                      void* const srclist[], size_t srclen, gex_Flags_t flags);

/* Sections of arrays: elements of `elemsz` contiguous bytes, count[i] of them in dimension i, at
 * distances of {dst,src}strides[i]; strides may be negative and in any order. */
extern gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                        gex_Rank_t srcrank, void* srcaddr,
                                        const ptrdiff_t srcstrides[], size_t elemsz,
                                        const size_t count[], size_t stridelevels,
                                        gex_Flags_t flags);
extern int gex_VIS_StridedGetNBI(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                 gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],
                                 size_t elemsz, const size_t count[], size_t stridelevels,
                                 gex_Flags_t flags);
extern int gex_VIS_StridedGetBlocking(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                      gex_Rank_t srcrank, void* srcaddr,
                                      const ptrdiff_t srcstrides[], size_t elemsz,
                                      const size_t count[], size_t stridelevels, gex_Flags_t flags);
extern gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                        const ptrdiff_t dststrides[], void* srcaddr,
                                        const ptrdiff_t srcstrides[], size_t elemsz,
                                        const size_t count[], size_t stridelevels,
                                        gex_Flags_t flags);
extern int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                 const ptrdiff_t dststrides[], void* srcaddr,
                                 const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                                 size_t stridelevels, gex_Flags_t flags);
extern int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                      const ptrdiff_t dststrides[], void* srcaddr,
                                      const ptrdiff_t srcstrides[], size_t elemsz,
                                      const size_t count[], size_t stridelevels, gex_Flags_t flags);

/* Arms `handler` for the calling thread's next VIS put, 0 disarms. Once the put's data is there,
 * it runs at the target as a 0-argument medium reply with a copy of the `nbytes` at `source_addr`,
 * which must stay unchanged until that put is initiated. Deprecated by the specification. */
#define GEX_VIS_MAX_PEERCOMPLETION ((size_t)256)
extern void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                             size_t nbytes, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#include <causeway/gasnet1_vis.h>

#endif
