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

#ifdef __cplusplus
}
#endif
#endif
