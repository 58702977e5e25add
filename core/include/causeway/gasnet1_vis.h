/* causeway/gasnet1_vis.h - vector, indexed and strided transfers of GASNet-1.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_vis.h. LBNL-56495 v2.0, 5.2.1, 5.3.1 and 6.2.1: shapes
 * of the gex_VIS_* calls over the team of GASNet-1. Lists and data belong to the library until the
 * operation is synchronised; strides and counts are the caller's again on return.
 */
#ifndef CAUSEWAY_GASNET1_VIS_H
#define CAUSEWAY_GASNET1_VIS_H

#include <causeway/gasnet1_team.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- vector ---- */
static inline void gasnet_putv_bulk(gex_Rank_t dstnode, size_t dstcount,
                                    gasnet_memvec_t const dstlist[], size_t srccount,
                                    gasnet_memvec_t const srclist[]) {
  (void)gex_VIS_VectorPutBlocking(cwy_gasnet1_team("gasnet_putv_bulk()"), dstnode, dstcount,
                                  (const gex_Memvec_t*)dstlist, srccount,
                                  (const gex_Memvec_t*)srclist, 0);
}
static inline void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],
                                    gex_Rank_t srcnode, size_t srccount,
                                    gasnet_memvec_t const srclist[]) {
  (void)gex_VIS_VectorGetBlocking(cwy_gasnet1_team("gasnet_getv_bulk()"), dstcount,
                                  (const gex_Memvec_t*)dstlist, srcnode, srccount,
                                  (const gex_Memvec_t*)srclist, 0);
}
static inline gex_Event_t gasnet_putv_nb_bulk(gex_Rank_t dstnode, size_t dstcount,
                                              gasnet_memvec_t const dstlist[], size_t srccount,
                                              gasnet_memvec_t const srclist[]) {
  return gex_VIS_VectorPutNB(cwy_gasnet1_team("gasnet_putv_nb_bulk()"), dstnode, dstcount,
                             (const gex_Memvec_t*)dstlist, srccount, (const gex_Memvec_t*)srclist,
                             0);
}
static inline gex_Event_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],
                                              gex_Rank_t srcnode, size_t srccount,
                                              gasnet_memvec_t const srclist[]) {
  return gex_VIS_VectorGetNB(cwy_gasnet1_team("gasnet_getv_nb_bulk()"), dstcount,
                             (const gex_Memvec_t*)dstlist, srcnode, srccount,
                             (const gex_Memvec_t*)srclist, 0);
}
static inline void gasnet_putv_nbi_bulk(gex_Rank_t dstnode, size_t dstcount,
                                        gasnet_memvec_t const dstlist[], size_t srccount,
                                        gasnet_memvec_t const srclist[]) {
  (void)gex_VIS_VectorPutNBI(cwy_gasnet1_team("gasnet_putv_nbi_bulk()"), dstnode, dstcount,
                             (const gex_Memvec_t*)dstlist, srccount, (const gex_Memvec_t*)srclist,
                             0);
}
static inline void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[],
                                        gex_Rank_t srcnode, size_t srccount,
                                        gasnet_memvec_t const srclist[]) {
  (void)gex_VIS_VectorGetNBI(cwy_gasnet1_team("gasnet_getv_nbi_bulk()"), dstcount,
                             (const gex_Memvec_t*)dstlist, srcnode, srccount,
                             (const gex_Memvec_t*)srclist, 0);
}

/* ---- indexed ---- */
static inline void gasnet_puti_bulk(gex_Rank_t dstnode, size_t dstcount, void* const dstlist[],
                                    size_t dstlen, size_t srccount, void* const srclist[],
                                    size_t srclen) {
  (void)gex_VIS_IndexedPutBlocking(cwy_gasnet1_team("gasnet_puti_bulk()"), dstnode, dstcount,
                                   dstlist, dstlen, srccount, srclist, srclen, 0);
}
static inline void gasnet_geti_bulk(size_t dstcount, void* const dstlist[], size_t dstlen,
                                    gex_Rank_t srcnode, size_t srccount, void* const srclist[],
                                    size_t srclen) {
  (void)gex_VIS_IndexedGetBlocking(cwy_gasnet1_team("gasnet_geti_bulk()"), dstcount, dstlist,
                                   dstlen, srcnode, srccount, srclist, srclen, 0);
}
static inline gex_Event_t gasnet_puti_nb_bulk(gex_Rank_t dstnode, size_t dstcount,
                                              void* const dstlist[], size_t dstlen, size_t srccount,
                                              void* const srclist[], size_t srclen) {
  return gex_VIS_IndexedPutNB(cwy_gasnet1_team("gasnet_puti_nb_bulk()"), dstnode, dstcount, dstlist,
                              dstlen, srccount, srclist, srclen, 0);
}
static inline gex_Event_t gasnet_geti_nb_bulk(size_t dstcount, void* const dstlist[], size_t dstlen,
                                              gex_Rank_t srcnode, size_t srccount,
                                              void* const srclist[], size_t srclen) {
  return gex_VIS_IndexedGetNB(cwy_gasnet1_team("gasnet_geti_nb_bulk()"), dstcount, dstlist, dstlen,
                              srcnode, srccount, srclist, srclen, 0);
}
static inline void gasnet_puti_nbi_bulk(gex_Rank_t dstnode, size_t dstcount, void* const dstlist[],
                                        size_t dstlen, size_t srccount, void* const srclist[],
                                        size_t srclen) {
  (void)gex_VIS_IndexedPutNBI(cwy_gasnet1_team("gasnet_puti_nbi_bulk()"), dstnode, dstcount,
                              dstlist, dstlen, srccount, srclist, srclen, 0);
}
static inline void gasnet_geti_nbi_bulk(size_t dstcount, void* const dstlist[], size_t dstlen,
                                        gex_Rank_t srcnode, size_t srccount, void* const srclist[],
                                        size_t srclen) {
  (void)gex_VIS_IndexedGetNBI(cwy_gasnet1_team("gasnet_geti_nbi_bulk()"), dstcount, dstlist, dstlen,
                              srcnode, srccount, srclist, srclen, 0);
}

/* ---- strided: count[0] is what GASNet-EX calls elemsz, so count has stridelevels + 1 entries.
 * Strides are positive and fit ptrdiff_t, as they span memory. ---- */
static inline void gasnet_puts_bulk(gex_Rank_t dstnode, void* dstaddr, const size_t dststrides[],
                                    void* srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
  (void)gex_VIS_StridedPutBlocking(
      cwy_gasnet1_team("gasnet_puts_bulk()"), dstnode, dstaddr, (const ptrdiff_t*)dststrides,
      srcaddr, (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline void gasnet_gets_bulk(void* dstaddr, const size_t dststrides[], gex_Rank_t srcnode,
                                    void* srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
  (void)gex_VIS_StridedGetBlocking(
      cwy_gasnet1_team("gasnet_gets_bulk()"), dstaddr, (const ptrdiff_t*)dststrides, srcnode,
      srcaddr, (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline gex_Event_t gasnet_puts_nb_bulk(gex_Rank_t dstnode, void* dstaddr,
                                              const size_t dststrides[], void* srcaddr,
                                              const size_t srcstrides[], const size_t count[],
                                              size_t stridelevels) {
  return gex_VIS_StridedPutNB(cwy_gasnet1_team("gasnet_puts_nb_bulk()"), dstnode, dstaddr,
                              (const ptrdiff_t*)dststrides, srcaddr, (const ptrdiff_t*)srcstrides,
                              count[0], count + 1, stridelevels, 0);
}
static inline gex_Event_t gasnet_gets_nb_bulk(void* dstaddr, const size_t dststrides[],
                                              gex_Rank_t srcnode, void* srcaddr,
                                              const size_t srcstrides[], const size_t count[],
                                              size_t stridelevels) {
  return gex_VIS_StridedGetNB(cwy_gasnet1_team("gasnet_gets_nb_bulk()"), dstaddr,
                              (const ptrdiff_t*)dststrides, srcnode, srcaddr,
                              (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline void gasnet_puts_nbi_bulk(gex_Rank_t dstnode, void* dstaddr,
                                        const size_t dststrides[], void* srcaddr,
                                        const size_t srcstrides[], const size_t count[],
                                        size_t stridelevels) {
  (void)gex_VIS_StridedPutNBI(cwy_gasnet1_team("gasnet_puts_nbi_bulk()"), dstnode, dstaddr,
                              (const ptrdiff_t*)dststrides, srcaddr, (const ptrdiff_t*)srcstrides,
                              count[0], count + 1, stridelevels, 0);
}
static inline void gasnet_gets_nbi_bulk(void* dstaddr, const size_t dststrides[],
                                        gex_Rank_t srcnode, void* srcaddr,
                                        const size_t srcstrides[], const size_t count[],
                                        size_t stridelevels) {
  (void)gex_VIS_StridedGetNBI(cwy_gasnet1_team("gasnet_gets_nbi_bulk()"), dstaddr,
                              (const ptrdiff_t*)dststrides, srcnode, srcaddr,
                              (const ptrdiff_t*)srcstrides, count[0], count + 1, stridelevels, 0);
}

#ifdef __cplusplus
}
#endif
#endif
