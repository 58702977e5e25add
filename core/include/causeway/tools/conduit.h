/* causeway/tools/conduit.h - what the tools offer to programs that include gasnetex.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_tools.h.
 */
#ifndef CAUSEWAY_TOOLS_CONDUIT_H
#define CAUSEWAY_TOOLS_CONDUIT_H

#ifdef __cplusplus
extern "C" {
#endif

#define GASNETT_FAST_ALIGNED_MEMCPY(dst, src, n) memcpy((dst), (src), (n))
#define GASNETT_FAST_UNALIGNED_MEMCPY(dst, src, n) memcpy((dst), (src), (n))
/* The low n bytes of v. */
#define GASNETT_VALUE_ASSIGN(dst, v, n) cwy_store_value((dst), (gex_RMA_Value_t)(v), (n))
/* Returns from the function around it. */
#define GASNETT_VALUE_RETURN(src, n) return cwy_load_value((src), (n))

/* Zeroed memory at a page boundary; NULL if there is none. Ends with munmap(). */
extern void* gasnett_mmap(uintptr_t size);

/* Names of constants, joined by '|'. Returns the bytes needed with terminator; writes them unless
 * buf is NULL. */
extern size_t gasnett_format_dt(char* buf, gex_DT_t dt);
extern size_t gasnett_format_op(char* buf, gex_OP_t op);
extern size_t gasnett_format_ti(char* buf, gex_TI_t ti);

/* The lists of non-contiguous transfers, for messages. Each writes into `buf`, which has what the
 * matching _bufsz call says for lists of that length, and returns the bytes written with
 * terminator. Lists may be NULL where their count is 0. */
extern size_t gasnett_format_memveclist_bufsz(size_t count);
extern size_t gasnett_format_memveclist(char* buf, size_t count, const gex_Memvec_t* list);
/* `len`: bytes of every piece. */
extern size_t gasnett_format_addrlist_bufsz(size_t count);
extern size_t gasnett_format_addrlist(char* buf, size_t count, void* const* list, size_t len);
extern size_t gasnett_format_strides_bufsz(size_t count);
extern size_t gasnett_format_strides(char* buf, size_t count, const ptrdiff_t* list);
extern size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount);
extern size_t gasnett_format_putvgetv(char* buf, size_t dstcount, const gex_Memvec_t* dstlist,
                                      size_t srccount, const gex_Memvec_t* srclist);
extern size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount);
extern size_t gasnett_format_putigeti(char* buf, size_t dstcount, void* const* dstlist,
                                      size_t dstlen, size_t srccount, void* const* srclist,
                                      size_t srclen);
extern size_t gasnett_format_putsgets_bufsz(size_t stridelevels);
extern size_t gasnett_format_putsgets(char* buf, void* dstaddr, const ptrdiff_t* dststrides,
                                      void* srcaddr, const ptrdiff_t* srcstrides, size_t elemsz,
                                      const size_t* count, size_t stridelevels);
/* Programs pass 8 arguments, or 9: after `buf` a place for statistics, which are not kept. */
#define gasnett_format_putsgets(...) \
  CWY_JOIN(CWY_TOOLS_PUTSGETS_, CWY_AFTER_7(__VA_ARGS__))(__VA_ARGS__)
#define CWY_TOOLS_PUTSGETS_1 (gasnett_format_putsgets)
#define CWY_TOOLS_PUTSGETS_2(buf, statistics, ...) \
  ((void)(statistics), (gasnett_format_putsgets)(buf, __VA_ARGS__))

/* The library tries itself: atomics, locks, timers with `threadcnt` threads of its own, then put,
 * get, messages and barriers between the ranks, `iter_cnt` rounds each. Collective over the
 * primordial team of the GASNet-1 client, or of the first client. `testsections`: letters of the
 * parts wanted (A atomics, L locks, T timers, D data helpers, R put and get, M messages), NULL for
 * all. `seginfo`: one entry per rank, whose first 8 bytes per rank of the job are overwritten; NULL:
 * R is left out. M is left out unless the handlers were registered. Returns the number of failures
 * seen by this rank, each told in a line on stderr. */
extern int cwy_tools_run_diagnostics_v1(int iter_cnt, int threadcnt, const char* testsections,
                                        const void* seginfo);
/* Over a team that the client names; `mine` is this member's memory for R, where `seginfo` is NULL,
 * with 8 bytes per member. */
extern int cwy_tools_run_diagnostics_over_v1(int iter_cnt, int threadcnt, const char* testsections,
                                             gex_TM_t tm, const void* seginfo, void* mine);
/* After the first three arguments programs pass `seginfo`; the team and `seginfo`; or the team,
 * this member's memory, and rank and memory of a neighbor, which is found without being told. */
#define gasnett_run_diagnostics(...) \
  CWY_JOIN(CWY_TOOLS_DIAGNOSTICS_, CWY_AFTER_3(__VA_ARGS__))(__VA_ARGS__)
#define CWY_TOOLS_DIAGNOSTICS_1 cwy_tools_run_diagnostics_v1
#define CWY_TOOLS_DIAGNOSTICS_2(iter_cnt, threadcnt, testsections, tm, seginfo) \
  cwy_tools_run_diagnostics_over_v1(iter_cnt, threadcnt, testsections, tm, seginfo, NULL)
#define CWY_TOOLS_DIAGNOSTICS_4(iter_cnt, threadcnt, testsections, tm, mine, peer, theirs) \
  ((void)(peer), (void)(theirs),                                                           \
   cwy_tools_run_diagnostics_over_v1(iter_cnt, threadcnt, testsections, tm, NULL, mine))
/* The handlers of part M, to be registered by the client, which writes their indices into the
 * table. */
extern void gasnett_diagnostic_gethandlers(gex_AM_Entry_t** htable, int* htable_cnt);

#ifdef __cplusplus
}
#endif
#endif
