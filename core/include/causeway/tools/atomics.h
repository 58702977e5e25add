/* causeway/tools/atomics.h - memory barriers and atomics of the tools.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of gasnet_tools.h, which clients include. All atomics are real in every threading mode:
 * a program compiled for one thread may be linked with others. Operations that change memory are
 * sequentially consistent; the flags add fences where that alone would not order accesses to other
 * places.
 */
#ifndef CAUSEWAY_TOOLS_ATOMICS_H
#define CAUSEWAY_TOOLS_ATOMICS_H
#include <stdint.h>

/* The thread sanitizer knows no fences but this one. */
#if defined(__SANITIZE_THREAD__)
#define CWY_TOOLS_FENCE(order) __sync_synchronize()
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CWY_TOOLS_FENCE(order) __sync_synchronize()
#endif
#endif
#ifndef CWY_TOOLS_FENCE
#define CWY_TOOLS_FENCE(order) __atomic_thread_fence(order)
#endif

static inline void gasnett_compiler_fence(void) {
  __asm__ __volatile__("" ::: "memory");
}
static inline void gasnett_local_wmb(void) {
  CWY_TOOLS_FENCE(__ATOMIC_RELEASE);
}
static inline void gasnett_local_rmb(void) {
  CWY_TOOLS_FENCE(__ATOMIC_ACQUIRE);
}
static inline void gasnett_local_mb(void) {
  CWY_TOOLS_FENCE(__ATOMIC_SEQ_CST);
}
static inline void gasnett_spinloop_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__ __volatile__("pause" ::: "memory");
#elif defined(__aarch64__)
  __asm__ __volatile__("yield" ::: "memory");
#else
  gasnett_compiler_fence();
#endif
}
/* A macro as well, whose text stands without these headers: configure scripts keep it. */
#if defined(__x86_64__) || defined(__i386__)
#define gasnett_spinloop_hint() (__extension__({ __asm__ __volatile__("pause" ::: "memory"); }))
#elif defined(__aarch64__)
#define gasnett_spinloop_hint() (__extension__({ __asm__ __volatile__("yield" ::: "memory"); }))
#endif
/* PARSYNC has several threads although the tools count it as one. */
#if defined(GASNETT_THREAD_SINGLE) && !defined(GASNET_PARSYNC)
#define CWY_TOOLS_WEAK(strong) gasnett_compiler_fence()
#else
#define CWY_TOOLS_WEAK(strong) strong()
#endif
static inline void gasnett_weak_wmb(void) {
  CWY_TOOLS_WEAK(gasnett_local_wmb);
}
static inline void gasnett_weak_rmb(void) {
  CWY_TOOLS_WEAK(gasnett_local_rmb);
}
static inline void gasnett_weak_mb(void) {
  CWY_TOOLS_WEAK(gasnett_local_mb);
}
#define GASNETT_MEMBAR_CONFIG gcc_atomics

#ifndef GASNETT_LITE_MODE

#define GASNETT_ATOMIC_NONE 0
#define GASNETT_ATOMIC_RMB_PRE 1
#define GASNETT_ATOMIC_WMB_PRE 2
#define GASNETT_ATOMIC_MB_PRE 3
#define GASNETT_ATOMIC_RMB_POST 4
#define GASNETT_ATOMIC_WMB_POST 8
#define GASNETT_ATOMIC_MB_POST 12
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE 0x10
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE 0x20
#define GASNETT_ATOMIC_REL GASNETT_ATOMIC_WMB_PRE
#define GASNETT_ATOMIC_ACQ GASNETT_ATOMIC_RMB_POST
#define GASNETT_ATOMIC_ACQ_IF_TRUE GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE GASNETT_ATOMIC_RMB_POST_IF_FALSE

/* Both kinds at once are a full fence; the conditional ones are issued unconditionally. */
static inline void cwy_tools_fence_before(int flags) {
  if ((flags & GASNETT_ATOMIC_MB_PRE) == GASNETT_ATOMIC_MB_PRE)
    gasnett_local_mb();
  else if (flags & GASNETT_ATOMIC_WMB_PRE)
    gasnett_local_wmb();
  else if (flags & GASNETT_ATOMIC_RMB_PRE)
    gasnett_local_rmb();
}
static inline void cwy_tools_fence_after(int flags) {
  if ((flags & GASNETT_ATOMIC_MB_POST) == GASNETT_ATOMIC_MB_POST)
    gasnett_local_mb();
  else if (flags & GASNETT_ATOMIC_WMB_POST)
    gasnett_local_wmb();
  else if (flags & (GASNETT_ATOMIC_RMB_POST | GASNETT_ATOMIC_RMB_POST_IF_TRUE |
                    GASNETT_ATOMIC_RMB_POST_IF_FALSE))
    gasnett_local_rmb();
}

/* The ten operations of one type. Natural size and alignment: clients may use storage of plain
 * integers and floating-point numbers through these types. */
#define CWY_DEFINE_TOOLS_ATOMIC(P, V)                                                          \
  static inline V P##_read(const P##_t* p, int f) {                                            \
    V value;                                                                                   \
    cwy_tools_fence_before(f);                                                                 \
    value = __atomic_load_n(&p->cwy_value, __ATOMIC_SEQ_CST);                                  \
    cwy_tools_fence_after(f);                                                                  \
    return value;                                                                              \
  }                                                                                            \
  static inline void P##_set(P##_t* p, V value, int f) {                                       \
    cwy_tools_fence_before(f);                                                                 \
    __atomic_store_n(&p->cwy_value, value, __ATOMIC_SEQ_CST);                                  \
    cwy_tools_fence_after(f);                                                                  \
  }                                                                                            \
  static inline V P##_add(P##_t* p, V value, int f) {                                          \
    cwy_tools_fence_before(f);                                                                 \
    value = (V)__atomic_add_fetch(&p->cwy_value, value, __ATOMIC_SEQ_CST);                     \
    cwy_tools_fence_after(f);                                                                  \
    return value;                                                                              \
  }                                                                                            \
  static inline V P##_subtract(P##_t* p, V value, int f) {                                     \
    cwy_tools_fence_before(f);                                                                 \
    value = (V)__atomic_sub_fetch(&p->cwy_value, value, __ATOMIC_SEQ_CST);                     \
    cwy_tools_fence_after(f);                                                                  \
    return value;                                                                              \
  }                                                                                            \
  static inline void P##_increment(P##_t* p, int f) {                                          \
    (void)P##_add(p, 1, f);                                                                    \
  }                                                                                            \
  static inline void P##_decrement(P##_t* p, int f) {                                          \
    (void)P##_subtract(p, 1, f);                                                               \
  }                                                                                            \
  static inline int P##_decrement_and_test(P##_t* p, int f) {                                  \
    return P##_subtract(p, 1, f) == 0;                                                         \
  }                                                                                            \
  static inline V P##_swap(P##_t* p, V value, int f) {                                         \
    cwy_tools_fence_before(f);                                                                 \
    value = __atomic_exchange_n(&p->cwy_value, value, __ATOMIC_SEQ_CST);                       \
    cwy_tools_fence_after(f);                                                                  \
    return value;                                                                              \
  }                                                                                            \
  static inline int P##_compare_and_swap(P##_t* p, V oldval, V newval, int f) {                \
    int swapped;                                                                               \
    cwy_tools_fence_before(f);                                                                 \
    swapped = __atomic_compare_exchange_n(&p->cwy_value, &oldval, newval, 0, __ATOMIC_SEQ_CST, \
                                          __ATOMIC_SEQ_CST);                                   \
    cwy_tools_fence_after(f);                                                                  \
    return swapped;                                                                            \
  }

typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
typedef struct {
  uint32_t cwy_value;
} __attribute__((__may_alias__)) gasnett_atomic32_t;
typedef struct {
  uint64_t cwy_value;
} __attribute__((__may_alias__)) gasnett_atomic64_t;
typedef gasnett_atomic32_t gasnett_atomic_t;
typedef gasnett_atomic32_t gasnett_strongatomic_t;
typedef gasnett_atomic32_t gasnett_strongatomic32_t;
typedef gasnett_atomic64_t gasnett_strongatomic64_t;

#define gasnett_atomic_init(v) \
  { (v) }
#define gasnett_atomic32_init(v) \
  { (v) }
#define gasnett_atomic64_init(v) \
  { (v) }
#define gasnett_strongatomic_init(v) \
  { (v) }
#define gasnett_strongatomic32_init(v) \
  { (v) }
#define gasnett_strongatomic64_init(v) \
  { (v) }

CWY_DEFINE_TOOLS_ATOMIC(gasnett_atomic, gasnett_atomic_val_t)
CWY_DEFINE_TOOLS_ATOMIC(gasnett_atomic32, uint32_t)
CWY_DEFINE_TOOLS_ATOMIC(gasnett_atomic64, uint64_t)
CWY_DEFINE_TOOLS_ATOMIC(gasnett_strongatomic, gasnett_atomic_val_t)
CWY_DEFINE_TOOLS_ATOMIC(gasnett_strongatomic32, uint32_t)
CWY_DEFINE_TOOLS_ATOMIC(gasnett_strongatomic64, uint64_t)
#undef CWY_DEFINE_TOOLS_ATOMIC

#define gasnett_atomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define gasnett_strongatomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define GASNETT_ATOMIC_MAX ((gasnett_atomic_val_t)0xFFFFFFFFu)
#define GASNETT_ATOMIC_SIGNED_MIN ((gasnett_atomic_sval_t)(-0x7FFFFFFF - 1))
#define GASNETT_ATOMIC_SIGNED_MAX ((gasnett_atomic_sval_t)0x7FFFFFFF)
#define GASNETT_HAVE_ATOMIC_CAS 1
#define GASNETT_HAVE_ATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS 1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
#define GASNETT_ATOMIC_CONFIG gcc_atomics
#define GASNETT_ATOMIC32_CONFIG gcc_atomics
#define GASNETT_ATOMIC64_CONFIG gcc_atomics

#endif /* GASNETT_LITE_MODE */
#endif
