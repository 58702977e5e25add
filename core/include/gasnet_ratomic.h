/* gasnet_ratomic.h - remote atomics of GASNet-EX, for C99 and C++11 or later.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * GASNet-EX API v0.18, "Remote Atomic Operations" and "Common types for atomics and reductions".
 * Beyond the specification:
 *  - Every call is complete for every flag it names: offsets on either side
 *    (GEX_FLAG_SELF_SEG_OFFSET, GEX_FLAG_PEER_SEG_OFFSET) included.
 *  - All members of a domain perform its operations by one mechanism, agreed when it is created:
 *    the processor of whoever can reach the memory, or the network adapter of its owner.
 *    gex_AD_Create says how it is chosen; `atomics.mechanism` in the configuration can fix it.
 *  - Integers wrap, signed ones too. By processors, floating-point operations are those of the C
 *    expressions in the specification: compare-and-swap compares values, so that 0.0 matches -0.0
 *    and a NaN matches nothing; MIN and MAX leave the operand in the target when either of the two
 *    is a NaN, or when they are equal; a fetched NaN keeps its bits. By an adapter they are what
 *    the adapter does, within what the specification allows.
 *  - An operation on memory that is mapped into this process, in a domain of processors, is
 *    complete on return; with an opcode that the compiler knows it is one instruction here, except
 *    for MULT, MIN, MAX and floating-point arithmetic, which are loops in the library.
 */
#ifndef _INCLUDED_GASNET_RATOMIC_H
#define _INCLUDED_GASNET_RATOMIC_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a gex_AD_t points to begins with this. Constant for the life of the domain. The layout is
 * frozen: it changes only together with the name of the entry that creates domains. */
typedef struct cwy_ad_head {
  gex_TM_t window; /* leads to memory that may be updated in place: the head of the domain's team,
                      or one without ranks where every operation has to be a call */
  gex_DT_t dt;
  gex_OP_t ops;
  void* owner; /* the library's object */
  uint64_t reserved[5];
} cwy_ad_head;

typedef cwy_ad_head* gex_AD_t; /* only the library writes through it */
#define GEX_AD_INVALID ((gex_AD_t)0)

extern void cwy_ad_create_v1(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                             gex_Flags_t flags);

/* Collective over `tm`; `dt`, `ops` and `flags` are single-valued. The domain is *ad_p, destroyed
 * by gex_AD_Destroy. Not from handlers. A type, an operation or a flag that the specification does
 * not give, or members that disagree, end the job with one line, with or without `checks: full`.
 *
 * The mechanism: processors, if the members' memory can all be mapped into each other or a hint
 * (GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD) favors them; else an adapter, if one
 * conduit performs all of `ops` on `dt` between all members; else processors. */
static inline void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                                 gex_Flags_t flags) {
  cwy_ad_create_v1(ad_p, tm, dt, ops, flags);
}
/* Collective over the domain's team, after all its operations are complete everywhere. Does not
 * wait for other members. */
extern void gex_AD_Destroy(gex_AD_t ad);

/* Any thread, any context. */
extern gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
extern gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
static inline gex_DT_t gex_AD_QueryDT(gex_AD_t ad) {
  return ad->dt;
}
static inline gex_OP_t gex_AD_QueryOps(gex_AD_t ad) {
  return ad->ops;
}
extern void gex_AD_SetCData(gex_AD_t ad, const void* val);
extern void* gex_AD_QueryCData(gex_AD_t ad);

/* The slow path. Operands stand in the low bytes, in the representation of `dt`. */
extern gex_Event_t cwy_ad_op_nb_v1(gex_AD_t ad, gex_DT_t dt, void* result_p, gex_Rank_t tgt_rank,
                                   void* tgt_addr, gex_OP_t opcode, uint64_t operand1,
                                   uint64_t operand2, gex_Flags_t flags);
extern int cwy_ad_op_nbi_v1(gex_AD_t ad, gex_DT_t dt, void* result_p, gex_Rank_t tgt_rank,
                            void* tgt_addr, gex_OP_t opcode, uint64_t operand1, uint64_t operand2,
                            gex_Flags_t flags);

/* ---- operations on mapped memory: instructions of the client's own ---- */

/* Each is inlined whatever the compiler thinks of its size: with a constant opcode nothing of it
 * is left but one instruction, and otherwise nothing at all. */
#define CWY_AD_INLINE static inline __attribute__((always_inline))

#define CWY_AD_ACCESSORS (GEX_OP_SET | GEX_OP_GET | GEX_OP_SWAP)
/* The ten that have a fetching twin ten bits up: all below the lowest twin. */
#define CWY_AD_BASIC_OPS ((gex_OP_t)(GEX_OP_FMIN - 1))
#define CWY_AD_INTEGER_OPS                                                                         \
  (CWY_AD_ACCESSORS | GEX_OP_ADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_AND | GEX_OP_OR | \
   GEX_OP_XOR | GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FINC | GEX_OP_FDEC | GEX_OP_FAND | GEX_OP_FOR | \
   GEX_OP_FXOR | GEX_OP_CAS | GEX_OP_FCAS)

/* Where the word is here, or NULL when the call has to go the long way. `inline_ops` are the
 * operations that have an instruction. */
CWY_AD_INLINE void* cwy_ad_word(gex_AD_t ad, gex_Rank_t rank, void* addr, gex_OP_t opcode,
                                gex_OP_t inline_ops, gex_Flags_t flags) {
  intptr_t delta;
  if (!__builtin_constant_p(opcode) || !(opcode & inline_ops) || (flags & GEX_FLAG_RANK_IS_JOBRANK))
    return NULL;
  delta = cwy_direct_delta(ad->window, rank, flags);
  return cwy_is_direct(delta) ? cwy_translate(addr, delta) : NULL;
}

/* Orders: read-modify-writes acquire and release whatever the flags say, which is what their
 * instruction does on most processors anyway. A store that is to acquire becomes an exchange, and
 * a load that is to release comes after a full fence. */
#define CWY_AD_DEFINE_ACCESSORS(suffix, type)                                            \
  CWY_AD_INLINE void cwy_ad_access_##suffix(type* result_p, type* word, gex_OP_t opcode, \
                                            type operand1, gex_Flags_t flags) {          \
    type old;                                                                            \
    if (opcode == GEX_OP_GET) {                                                          \
      if (flags & GEX_FLAG_AD_REL) __sync_synchronize();                                 \
      __atomic_load(word, result_p, __ATOMIC_ACQUIRE);                                   \
    } else if (opcode == GEX_OP_SWAP) {                                                  \
      __atomic_exchange(word, &operand1, &old, __ATOMIC_ACQ_REL);                        \
      *result_p = old;                                                                   \
    } else if (flags & GEX_FLAG_AD_ACQ) {                                                \
      __atomic_exchange(word, &operand1, &old, __ATOMIC_ACQ_REL);                        \
    } else {                                                                             \
      __atomic_store(word, &operand1, __ATOMIC_RELEASE);                                 \
    }                                                                                    \
  }

#define CWY_AD_DEFINE_INTEGER(suffix, type)                                                     \
  CWY_AD_DEFINE_ACCESSORS(suffix, type)                                                         \
  CWY_AD_INLINE void cwy_ad_perform_##suffix(type* result_p, type* word, gex_OP_t opcode,       \
                                             type operand1, type operand2, gex_Flags_t flags) { \
    const gex_OP_t basic =                                                                      \
        opcode & CWY_AD_BASIC_OPS ? opcode : (gex_OP_t)(opcode >> 10) & CWY_AD_BASIC_OPS;       \
    type old = operand1;                                                                        \
    if (opcode & CWY_AD_ACCESSORS) {                                                            \
      cwy_ad_access_##suffix(result_p, word, opcode, operand1, flags);                          \
      return;                                                                                   \
    }                                                                                           \
    if (opcode & (GEX_OP_CAS | GEX_OP_FCAS))                                                    \
      /* sequentially consistent: one that fails is to order like one that swaps */             \
      __atomic_compare_exchange_n(word, &old, operand2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    else if (basic == GEX_OP_ADD)                                                               \
      old = __atomic_fetch_add(word, operand1, __ATOMIC_ACQ_REL);                               \
    else if (basic == GEX_OP_SUB)                                                               \
      old = __atomic_fetch_sub(word, operand1, __ATOMIC_ACQ_REL);                               \
    else if (basic == GEX_OP_INC)                                                               \
      old = __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);                                      \
    else if (basic == GEX_OP_DEC)                                                               \
      old = __atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL);                                      \
    else if (basic == GEX_OP_AND)                                                               \
      old = __atomic_fetch_and(word, operand1, __ATOMIC_ACQ_REL);                               \
    else if (basic == GEX_OP_OR)                                                                \
      old = __atomic_fetch_or(word, operand1, __ATOMIC_ACQ_REL);                                \
    else                                                                                        \
      old = __atomic_fetch_xor(word, operand1, __ATOMIC_ACQ_REL);                               \
    if (opcode != GEX_OP_CAS && opcode != basic) *result_p = old;                               \
  }

#define CWY_AD_DEFINE_FLOATING(suffix, type)                                                    \
  CWY_AD_DEFINE_ACCESSORS(suffix, type)                                                         \
  CWY_AD_INLINE void cwy_ad_perform_##suffix(type* result_p, type* word, gex_OP_t opcode,       \
                                             type operand1, type operand2, gex_Flags_t flags) { \
    (void)operand2;                                                                             \
    cwy_ad_access_##suffix(result_p, word, opcode, operand1, flags);                            \
  }

/* gex_AD_OpNB_*, gex_AD_OpNBI_*: "Remote Atomic Operations". Arguments, completion and flags as
 * there. Not from handlers. */
#define CWY_AD_DEFINE_CALLS(suffix, type, inline_ops)                                              \
  CWY_AD_INLINE gex_Event_t gex_AD_OpNB_##suffix(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank, \
                                                 void* tgt_addr, gex_OP_t opcode, type operand1,   \
                                                 type operand2, gex_Flags_t flags) {               \
    type* const word = (type*)cwy_ad_word(ad, tgt_rank, tgt_addr, opcode, inline_ops, flags);      \
    if (__builtin_expect(word != NULL, 1)) {                                                       \
      cwy_ad_perform_##suffix(result_p, word, opcode, operand1, operand2, flags);                  \
      return GEX_EVENT_INVALID;                                                                    \
    }                                                                                              \
    return cwy_ad_op_nb_v1(ad, GEX_DT_##suffix, result_p, tgt_rank, tgt_addr, opcode,              \
                           cwy_load_value(&operand1, sizeof operand1),                             \
                           cwy_load_value(&operand2, sizeof operand2), flags);                     \
  }                                                                                                \
  CWY_AD_INLINE int gex_AD_OpNBI_##suffix(gex_AD_t ad, type* result_p, gex_Rank_t tgt_rank,        \
                                          void* tgt_addr, gex_OP_t opcode, type operand1,          \
                                          type operand2, gex_Flags_t flags) {                      \
    type* const word = (type*)cwy_ad_word(ad, tgt_rank, tgt_addr, opcode, inline_ops, flags);      \
    if (__builtin_expect(word != NULL, 1)) {                                                       \
      cwy_ad_perform_##suffix(result_p, word, opcode, operand1, operand2, flags);                  \
      return 0;                                                                                    \
    }                                                                                              \
    return cwy_ad_op_nbi_v1(ad, GEX_DT_##suffix, result_p, tgt_rank, tgt_addr, opcode,             \
                            cwy_load_value(&operand1, sizeof operand1),                            \
                            cwy_load_value(&operand2, sizeof operand2), flags);                    \
  }

CWY_AD_DEFINE_INTEGER(I32, int32_t)
CWY_AD_DEFINE_INTEGER(U32, uint32_t)
CWY_AD_DEFINE_INTEGER(I64, int64_t)
CWY_AD_DEFINE_INTEGER(U64, uint64_t)
CWY_AD_DEFINE_FLOATING(FLT, float)
CWY_AD_DEFINE_FLOATING(DBL, double)
CWY_AD_DEFINE_CALLS(I32, int32_t, CWY_AD_INTEGER_OPS)
CWY_AD_DEFINE_CALLS(U32, uint32_t, CWY_AD_INTEGER_OPS)
CWY_AD_DEFINE_CALLS(I64, int64_t, CWY_AD_INTEGER_OPS)
CWY_AD_DEFINE_CALLS(U64, uint64_t, CWY_AD_INTEGER_OPS)
CWY_AD_DEFINE_CALLS(FLT, float, CWY_AD_ACCESSORS)
CWY_AD_DEFINE_CALLS(DBL, double, CWY_AD_ACCESSORS)
#undef CWY_AD_DEFINE_INTEGER
#undef CWY_AD_DEFINE_FLOATING
#undef CWY_AD_DEFINE_ACCESSORS
#undef CWY_AD_DEFINE_CALLS
#undef CWY_AD_INLINE

#ifdef __cplusplus
}
#endif
#endif
