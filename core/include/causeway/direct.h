/* causeway/direct.h - the part of the fast path that is compiled into the client.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion by clients. Every gex_TM_t, a team's or a TM-pair's, points to an
 * object that begins with a cwy_team_head: one cache line that leads to a *window* of ranks, each
 * with the distance between the owner's addresses and ours where its memory is mapped into this
 * process. An operation on such a rank is a load or store of the client's own; every other
 * operation is one call into the library.
 *
 * The layout is frozen: it changes only together with the symbol cwy_direct_v1, so that a client
 * compiled against another layout does not link.
 */
#ifndef CAUSEWAY_DIRECT_H
#define CAUSEWAY_DIRECT_H

#include <gasnet_fwd.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cwy_team_head {
  /* Ranks below this have a distance: all of them, or none (endpoints bound to device memory,
   * `direct_map: never`, `checks: full`). Stored with release. */
  uint32_t direct_count;
  uint32_t rank;      /* the caller's rank in the team */
  uint32_t size;      /* ranks in the team */
  uint32_t head_size; /* sizeof(cwy_team_head) of the library */
  void* owner;        /* the library's object */
  uint64_t reserved[5];
} __attribute__((aligned(64))) cwy_team_head;
/* Behind the head lies `intptr_t delta[size]`: add delta[r] to an address of rank r's to get ours;
 * CWY_NOT_MAPPED where there is none. Stored with release when a segment is published or
 * destroyed, loaded here with acquire. Per rank rather than one stretch of ranks, so that ranks
 * placed round-robin over hosts are direct too; behind the head rather than behind a pointer, so
 * that the distance is one load away. */
/* Mappings are page-aligned, so no distance is odd. */
#define CWY_NOT_MAPPED ((intptr_t)1)

/* To a head that only the library writes. Not to const: clients keep handles as void* and cast. */
typedef cwy_team_head* gex_TM_t;
#define GEX_TM_INVALID ((gex_TM_t)0)

extern const uint32_t cwy_direct_v1;

typedef uint64_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T 8

/* The slow path: everything that is not a plain load or store. */
extern int cwy_put_blocking_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                               size_t nbytes, gex_Flags_t flags);
/* Blocking forms of 1 to 8 bytes, by value. */
extern int cwy_put_small_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                            size_t nbytes, gex_Flags_t flags);
extern gex_RMA_Value_t cwy_get_small_v1(gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                                        gex_Flags_t flags);
extern int cwy_put_nbi_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                          gex_Event_t* lc_opt, gex_Flags_t flags);
extern gex_Event_t cwy_put_nb_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                 size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags);
extern int cwy_get_blocking_v1(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                               gex_Flags_t flags);
extern int cwy_get_nbi_v1(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                          gex_Flags_t flags);
extern gex_Event_t cwy_get_nb_v1(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                                 gex_Flags_t flags);
extern gex_RMA_Value_t cwy_get_val_v1(gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                                      gex_Flags_t flags);
extern int cwy_put_val_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                          size_t nbytes, gex_Flags_t flags);
extern int cwy_put_nbi_val_v1(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                              size_t nbytes, gex_Flags_t flags);
extern gex_Event_t cwy_put_nb_val_v1(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                     gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags);
extern int cwy_event_test_v1(gex_Event_t event);
extern void cwy_event_wait_v1(gex_Event_t event);

/* Flags that change what an address means, or may mean memory outside the mapped segment: such
 * calls go the long way. So do those to a peer that is said not to be mapped: where the flags are
 * constant, the test for it is left out. */
#define CWY_DIRECT_EXCLUDES                                                          \
  (GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | \
   GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_NEVER_NBRHD)

/* The distance to `rank`'s addresses, or CWY_NOT_MAPPED when the call has to go the long way. */
static inline intptr_t cwy_direct_delta(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags) {
  if (__builtin_expect((flags & CWY_DIRECT_EXCLUDES) != 0 ||
                           rank >= __atomic_load_n(&tm->direct_count, __ATOMIC_ACQUIRE),
                       0))
    return CWY_NOT_MAPPED;
  return __atomic_load_n((const intptr_t*)(tm + 1) + rank, __ATOMIC_ACQUIRE);
}
static inline int cwy_is_direct(intptr_t delta) {
  return __builtin_expect((delta & CWY_NOT_MAPPED) == 0, 1) != 0;
}
static inline void* cwy_translate(const void* addr, intptr_t delta) {
  return (void*)((uintptr_t)addr + (uintptr_t)delta);
}

/* Transfers whose size the compiler knows and a register holds go to the library by value, so
 * that the client's variable need not live in memory for the sake of a path not taken. Not where
 * the flags speak of the variable's address, nor where the compiler sees no object at the address:
 * that may be memory of a device, which only the library may touch. */
#define CWY_BY_VALUE(addr, nbytes, flags)                                                     \
  (__builtin_constant_p(nbytes) && (nbytes)-1 < sizeof(gex_RMA_Value_t) &&                    \
   __builtin_object_size(addr, 0) != (size_t)-1 &&                                            \
   !((flags) & (GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | \
                GEX_FLAG_IMMEDIATE)))

/* A direct operation is complete on return: a leaf event asked for has already happened. */
static inline void cwy_leaf_done(gex_Event_t* lc_opt) {
  if ((uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP) *lc_opt = GEX_EVENT_INVALID;
}

/* A direct operation is complete on return for every rank: what it stored is seen, and what it
 * loaded was read, before anything that the caller does next. x86 keeps both orders by itself, so
 * only the compiler is told; a fence for threads would be no instruction there either, but is one
 * that ThreadSanitizer does not know. */
#if defined(__x86_64__)
#define cwy_direct_done(order) __atomic_signal_fence(order)
#else
#define cwy_direct_done(order) __atomic_thread_fence(order)
#endif
static inline void cwy_copy_out(void* there, const void* src, size_t nbytes) {
  memcpy(there, src, nbytes);
  cwy_direct_done(__ATOMIC_RELEASE);
}
static inline void cwy_copy_in(void* dest, const void* there, size_t nbytes) {
  memcpy(dest, there, nbytes);
  cwy_direct_done(__ATOMIC_ACQUIRE);
}

/* The low `nbytes` bytes of a value, wherever the byte order puts them. */
static inline void cwy_store_value(void* dest, gex_RMA_Value_t value, size_t nbytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  cwy_copy_out(dest, (const char*)&value + (sizeof value - nbytes), nbytes);
#else
  cwy_copy_out(dest, &value, nbytes);
#endif
}
static inline gex_RMA_Value_t cwy_load_value(const void* src, size_t nbytes) {
  gex_RMA_Value_t value = 0;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  cwy_copy_in((char*)&value + (sizeof value - nbytes), src, nbytes);
#else
  cwy_copy_in(&value, src, nbytes);
#endif
  return value;
}

/* gex_RMA_*: GASNet-EX API v0.18, "Extended API". Arguments, completion and flags as there. */
static inline int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                      size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_copy_out(cwy_translate(dest, delta), src, nbytes);
    return 0;
  }
  if (CWY_BY_VALUE(src, nbytes, flags))
    return cwy_put_small_v1(tm, rank, dest, cwy_load_value(src, nbytes), nbytes, flags);
  return cwy_put_blocking_v1(tm, rank, dest, src, nbytes, flags);
}
static inline int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                 size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_copy_out(cwy_translate(dest, delta), src, nbytes);
    return 0;
  }
  return cwy_put_nbi_v1(tm, rank, dest, src, nbytes, lc_opt, flags);
}
static inline gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src,
                                        size_t nbytes, gex_Event_t* lc_opt, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_copy_out(cwy_translate(dest, delta), src, nbytes);
    cwy_leaf_done(lc_opt);
    return GEX_EVENT_INVALID;
  }
  return cwy_put_nb_v1(tm, rank, dest, src, nbytes, lc_opt, flags);
}
static inline int gex_RMA_GetBlocking(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                      size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_copy_in(dest, cwy_translate(src, delta), nbytes);
    return 0;
  }
  if (CWY_BY_VALUE(dest, nbytes, flags)) {
    cwy_store_value(dest, cwy_get_small_v1(tm, rank, src, nbytes, flags), nbytes);
    return 0;
  }
  return cwy_get_blocking_v1(tm, dest, rank, src, nbytes, flags);
}
static inline int gex_RMA_GetNBI(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                                 gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_copy_in(dest, cwy_translate(src, delta), nbytes);
    return 0;
  }
  return cwy_get_nbi_v1(tm, dest, rank, src, nbytes, flags);
}
static inline gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src,
                                        size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_copy_in(dest, cwy_translate(src, delta), nbytes);
    return GEX_EVENT_INVALID;
  }
  return cwy_get_nb_v1(tm, dest, rank, src, nbytes, flags);
}
static inline gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* src,
                                                     size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) return cwy_load_value(cwy_translate(src, delta), nbytes);
  return cwy_get_val_v1(tm, rank, src, nbytes, flags);
}
static inline int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                         gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_store_value(cwy_translate(dest, delta), value, nbytes);
    return 0;
  }
  return cwy_put_val_v1(tm, rank, dest, value, nbytes, flags);
}
static inline int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                                    size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_store_value(cwy_translate(dest, delta), value, nbytes);
    return 0;
  }
  return cwy_put_nbi_val_v1(tm, rank, dest, value, nbytes, flags);
}
static inline gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void* dest,
                                           gex_RMA_Value_t value, size_t nbytes,
                                           gex_Flags_t flags) {
  const intptr_t delta = cwy_direct_delta(tm, rank, flags);
  if (cwy_is_direct(delta)) {
    cwy_store_value(cwy_translate(dest, delta), value, nbytes);
    return GEX_EVENT_INVALID;
  }
  return cwy_put_nb_val_v1(tm, rank, dest, value, nbytes, flags);
}

/* gex_Event_Test/Wait: "Event test/wait operations". Test makes no progress. */
static inline int gex_Event_Test(gex_Event_t event) {
  return event == GEX_EVENT_INVALID ? 0 : cwy_event_test_v1(event);
}
static inline void gex_Event_Wait(gex_Event_t event) {
  if (event != GEX_EVENT_INVALID) cwy_event_wait_v1(event);
}

#ifdef __cplusplus
}
#endif
#endif
