/* causeway/tools/debug_malloc.h - an allocator that notices what programs do wrong with memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_tools.h where the client defines GASNET_DEBUGMALLOC.
 * Every block is surrounded by words that only writes beyond its ends change, is filled when it is
 * given out and when it is given back, and is known by its address: a free of what is not, or no
 * longer, a block of this allocator ends the process with a line that names the block and, unless
 * GASNETT_MALLOC_USE_SRCPOS is 0, where it came from. Any thread. Memory is the system's; NULL is
 * returned for 0 bytes only, want of memory ends the process.
 */
#ifndef CAUSEWAY_TOOLS_DEBUG_MALLOC_H
#define CAUSEWAY_TOOLS_DEBUG_MALLOC_H

#undef GASNET_DEBUGMALLOC
#define GASNET_DEBUGMALLOC 1
#ifndef GASNETT_MALLOC_USE_SRCPOS
#define GASNETT_MALLOC_USE_SRCPOS 1
#endif
#if GASNETT_MALLOC_USE_SRCPOS
#define CWY_TOOLS_SRCPOS (__FILE__ ":" _STRINGIFY(__LINE__))
#else
#define CWY_TOOLS_SRCPOS ((const char*)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint64_t allocated_bytes; /* since the start, as asked for */
  uint64_t freed_bytes;
  uint64_t live_bytes; /* given out and not given back */
  uint64_t live_bytes_max;
  uint64_t allocated_objects;
  uint64_t freed_objects;
  uint64_t live_objects;
  uint64_t live_objects_max;
  uint64_t overhead_bytes; /* of the live objects: what surrounds them */
} gasnett_heapstats_t;

/* `where` is kept by pointer: a literal, or NULL. */
extern void* cwy_tools_malloc_v1(size_t size, const char* where);
extern void* cwy_tools_calloc_v1(size_t count, size_t size, const char* where);
extern void* cwy_tools_realloc_v1(void* p, size_t size, const char* where);
extern void cwy_tools_free_v1(void* p, const char* where);
extern char* cwy_tools_strdup_v1(const char* s, const char* where);
extern char* cwy_tools_strndup_v1(const char* s, size_t n, const char* where);
extern size_t cwy_tools_memcheck_v1(void* p, const char* where);
extern void cwy_tools_memcheck_one_v1(const char* where);
extern void cwy_tools_memcheck_all_v1(const char* where);
extern int cwy_tools_heapstats_v1(gasnett_heapstats_t* stats);
extern int cwy_tools_heapinfo_v1(const char* file, int live);

#define gasnett_debug_malloc(sz) cwy_tools_malloc_v1((sz), CWY_TOOLS_SRCPOS)
#define gasnett_debug_calloc(n, s) cwy_tools_calloc_v1((n), (s), CWY_TOOLS_SRCPOS)
#define gasnett_debug_realloc(p, sz) cwy_tools_realloc_v1((p), (sz), CWY_TOOLS_SRCPOS)
#define gasnett_debug_free(p) cwy_tools_free_v1((p), CWY_TOOLS_SRCPOS)
#define gasnett_debug_strdup(s) cwy_tools_strdup_v1((s), CWY_TOOLS_SRCPOS)
#define gasnett_debug_strndup(s, n) cwy_tools_strndup_v1((s), (n), CWY_TOOLS_SRCPOS)
/* Ends the process unless the block is whole; its size. NULL is nothing to check. */
#define gasnett_debug_memcheck(p) cwy_tools_memcheck_v1((void*)(p), CWY_TOOLS_SRCPOS)
/* The next block of a round through all of them; all of them. */
#define gasnett_debug_memcheck_one() cwy_tools_memcheck_one_v1(CWY_TOOLS_SRCPOS)
#define gasnett_debug_memcheck_all() cwy_tools_memcheck_all_v1(CWY_TOOLS_SRCPOS)
/* 0. */
#define gasnett_getheapstats(stats) cwy_tools_heapstats_v1(stats)
/* Writes one line per live block (live non-zero) or per place of allocation with its totals, into
 * `file`; "-" is stderr. 0, or an errno. */
#define gasnett_heapinfo_dump(file, live) cwy_tools_heapinfo_v1((file), (live))

#ifdef __cplusplus
}
#endif
#endif
