/* gasnet.h - the GASNet-1 interface, for C99 and C++11 or later.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and semantics are those of the GASNet-1 specification, version 1.8.1. Everything here is a
 * thin shape of a gasnetex.h call over the primordial team, and the types are the same, so a
 * program may mix both: it starts with gasnet_init()/gasnet_attach(), or with gex_Client_Init(...,
 * GEX_FLAG_USES_GASNET1). The comments say what this implementation adds or chooses; for the rest
 * the specification stands.
 *
 * The vector, indexed and strided forms are in gasnet_vis.h; types, barriers, wait modes and places
 * of nodes come with gasnetex.h.
 */
#ifndef _INCLUDED_GASNET_H
#define _INCLUDED_GASNET_H

#include <causeway/gasnet1_team.h>
#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- job control and environment: 2.1, 2.2 ---- */
typedef struct {
  gasnet_handler_t index; /* 0: don't care; filled in by gasnet_attach */
  gex_AM_Fn_t fnptr;      /* in C any handler fits without a cast */
} gasnet_handlerentry_t;

extern int cwy_gasnet1_init_v1(int* argc, char*** argv, int thread_mode,
                               const uint32_t* direct_layout);
extern int cwy_gasnet1_attach_v1(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize,
                                 uintptr_t minheapoffset, int aligned);

/* argc and argv may be NULL. GASNET_OK, or GASNET_ERR_RESOURCE after one line on stderr; also when
 * called twice. */
static inline int gasnet_init(int* argc, char*** argv) {
  cwy_present_identity();
  return cwy_gasnet1_init_v1(argc, argv, CWY_THREAD_MODE, &cwy_direct_v1);
}

/* Collective. Whatever fails on one node fails on all, with the node named. No handler of this
 * client runs here before this has returned here, even if others are through already. A segment
 * larger than gasnet_getMaxLocalSegmentSize() is cut to that size, as gasnet_getSegmentInfo()
 * tells. minheapoffset is not needed here: heap and segment do not share a part of the address
 * space.
 *
 * A client compiled with -DGASNET_ALIGNED_SEGMENTS=1 gets segments that begin at one address on
 * all nodes, or GASNET_ERR_RESOURCE on all where the address spaces have no such place. */
static inline int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize,
                                uintptr_t minheapoffset) {
  return cwy_gasnet1_attach_v1(table, numentries, segsize, minheapoffset, GASNET_ALIGNED_SEGMENTS);
}

static inline gasnet_node_t gasnet_mynode(void) {
  return gex_System_QueryJobRank();
}
static inline gasnet_node_t gasnet_nodes(void) {
  return gex_System_QueryJobSize();
}

/* ---- active messages: 2.3 ---- */
static inline size_t gasnet_AMMaxArgs(void) {
  return gex_AM_MaxArgs();
}
static inline size_t gasnet_AMMaxMedium(void) {
  const size_t request = gex_AM_LUBRequestMedium(), reply = gex_AM_LUBReplyMedium();
  return request < reply ? request : reply;
}
static inline size_t gasnet_AMMaxLongRequest(void) {
  return gex_AM_LUBRequestLong();
}
static inline size_t gasnet_AMMaxLongReply(void) {
  return gex_AM_LUBReplyLong();
}
#include <causeway/gasnet1_am.h>

/* GASNET_OK, or GASNET_ERR_BAD_ARG for a NULL pointer. */
static inline int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex) {
  gex_Token_Info_t info;
  if (!srcindex) return GASNET_ERR_BAD_ARG;
  *srcindex = GEX_RANK_INVALID;
  if (!token) return GASNET_ERR_BAD_ARG;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  *srcindex = info.gex_srcrank;
  return GASNET_OK;
}

/* ---- no-interrupt sections and handler-safe locks: 2.4 ---- */
/* Nothing interrupts a thread here: handlers run inside calls. With `checks: full` the rules of
 * 2.4.3 are enforced: no nesting, no resume without hold, no communication in between. */
extern void gasnet_hold_interrupts(void);
extern void gasnet_resume_interrupts(void);

typedef gex_HSL_t gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER
static inline void gasnet_hsl_init(gasnet_hsl_t* hsl) {
  gex_HSL_Init(hsl);
}
static inline void gasnet_hsl_destroy(gasnet_hsl_t* hsl) {
  gex_HSL_Destroy(hsl);
}
static inline void gasnet_hsl_lock(gasnet_hsl_t* hsl) {
  gex_HSL_Lock(hsl);
}
static inline void gasnet_hsl_unlock(gasnet_hsl_t* hsl) {
  gex_HSL_Unlock(hsl);
}
static inline int gasnet_hsl_trylock(gasnet_hsl_t* hsl) {
  return gex_HSL_Trylock(hsl);
}

#include <causeway/gasnet1_rma.h>

#ifdef __cplusplus
}
#endif
#endif
