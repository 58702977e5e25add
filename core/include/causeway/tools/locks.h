/* causeway/tools/locks.h - mutexes, condition variables, reader/writer locks, thread-specific
 * pointers of the tools.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_tools.h. Where threads exist (GASNETT_THREAD_SAFE), or
 * the client defines GASNETT_USE_TRUE_MUTEXES as 1, these are the system's; elsewhere they are
 * nothing. For one process only; mutexes are not recursive. A system call that fails means misuse
 * and ends the process with a line that names it.
 */
#ifndef CAUSEWAY_TOOLS_LOCKS_H
#define CAUSEWAY_TOOLS_LOCKS_H

#ifndef GASNETT_USE_TRUE_MUTEXES
#ifdef GASNETT_THREAD_SAFE
#define GASNETT_USE_TRUE_MUTEXES 1
#else
#define GASNETT_USE_TRUE_MUTEXES 0
#endif
#endif

#if GASNETT_USE_TRUE_MUTEXES
#include <pthread.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern void cwy_tools_lock_failed_v1(const char* call, int error) __attribute__((noreturn, cold));

#if GASNETT_USE_TRUE_MUTEXES

static inline void cwy_tools_require(const char* call, int error) {
  if (__builtin_expect(error != 0, 0)) cwy_tools_lock_failed_v1(call, error);
}

typedef pthread_mutex_t gasnett_mutex_t;
#define GASNETT_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
static inline void gasnett_mutex_init(gasnett_mutex_t* m) {
  cwy_tools_require("gasnett_mutex_init()", pthread_mutex_init(m, NULL));
}
static inline int gasnett_mutex_destroy_ignoreerr(gasnett_mutex_t* m) {
  return pthread_mutex_destroy(m);
}
static inline void gasnett_mutex_destroy(gasnett_mutex_t* m) {
  cwy_tools_require("gasnett_mutex_destroy()", pthread_mutex_destroy(m));
}
static inline void gasnett_mutex_lock(gasnett_mutex_t* m) {
  cwy_tools_require("gasnett_mutex_lock()", pthread_mutex_lock(m));
}
static inline void gasnett_mutex_unlock(gasnett_mutex_t* m) {
  cwy_tools_require("gasnett_mutex_unlock()", pthread_mutex_unlock(m));
}
/* 0 or EBUSY */
static inline int gasnett_mutex_trylock(gasnett_mutex_t* m) {
  return pthread_mutex_trylock(m);
}

typedef pthread_cond_t gasnett_cond_t;
#define GASNETT_COND_INITIALIZER PTHREAD_COND_INITIALIZER
static inline void gasnett_cond_init(gasnett_cond_t* c) {
  cwy_tools_require("gasnett_cond_init()", pthread_cond_init(c, NULL));
}
static inline void gasnett_cond_destroy(gasnett_cond_t* c) {
  cwy_tools_require("gasnett_cond_destroy()", pthread_cond_destroy(c));
}
static inline void gasnett_cond_signal(gasnett_cond_t* c) {
  cwy_tools_require("gasnett_cond_signal()", pthread_cond_signal(c));
}
static inline void gasnett_cond_broadcast(gasnett_cond_t* c) {
  cwy_tools_require("gasnett_cond_broadcast()", pthread_cond_broadcast(c));
}
static inline void gasnett_cond_wait(gasnett_cond_t* c, gasnett_mutex_t* m) {
  cwy_tools_require("gasnett_cond_wait()", pthread_cond_wait(c, m));
}

/* Strict C99 hides the system's type, hence storage that the library knows to be large enough. */
typedef union {
  long cwy_storage[16];
} gasnett_rwlock_t;
#define GASNETT_RWLOCK_INITIALIZER \
  {                                \
    { 0 }                          \
  }
extern void cwy_tools_rwlock_init_v1(gasnett_rwlock_t* l);
extern void cwy_tools_rwlock_destroy_v1(gasnett_rwlock_t* l);
extern void cwy_tools_rwlock_rdlock_v1(gasnett_rwlock_t* l);
extern void cwy_tools_rwlock_wrlock_v1(gasnett_rwlock_t* l);
extern void cwy_tools_rwlock_unlock_v1(gasnett_rwlock_t* l);
extern int cwy_tools_rwlock_tryrdlock_v1(gasnett_rwlock_t* l);
extern int cwy_tools_rwlock_trywrlock_v1(gasnett_rwlock_t* l);
#define gasnett_rwlock_init(l) cwy_tools_rwlock_init_v1(l)
#define gasnett_rwlock_destroy(l) cwy_tools_rwlock_destroy_v1(l)
#define gasnett_rwlock_rdlock(l) cwy_tools_rwlock_rdlock_v1(l)
#define gasnett_rwlock_wrlock(l) cwy_tools_rwlock_wrlock_v1(l)
#define gasnett_rwlock_unlock(l) cwy_tools_rwlock_unlock_v1(l)
#define gasnett_rwlock_tryrdlock(l) cwy_tools_rwlock_tryrdlock_v1(l)
#define gasnett_rwlock_trywrlock(l) cwy_tools_rwlock_trywrlock_v1(l)

#else /* one thread: nothing to exclude */

/* A variable of these types may stay unused without a warning. */
typedef struct {
  char cwy_nothing;
} __attribute__((__unused__)) cwy_tools_no_lock_t;
#define CWY_TOOLS_NO_LOCK \
  { 0 }
static inline void cwy_tools_no_lock_init(cwy_tools_no_lock_t* lock) {
  lock->cwy_nothing = 0;
}
static inline void cwy_tools_no_lock(cwy_tools_no_lock_t* lock) {
  (void)lock;
}
static inline int cwy_tools_no_lock_result(cwy_tools_no_lock_t* lock) {
  (void)lock;
  return 0;
}

typedef cwy_tools_no_lock_t gasnett_mutex_t;
#define GASNETT_MUTEX_INITIALIZER CWY_TOOLS_NO_LOCK
#define gasnett_mutex_init(m) cwy_tools_no_lock_init(m)
#define gasnett_mutex_destroy(m) cwy_tools_no_lock(m)
#define gasnett_mutex_destroy_ignoreerr(m) cwy_tools_no_lock_result(m)
#define gasnett_mutex_lock(m) cwy_tools_no_lock(m)
#define gasnett_mutex_unlock(m) cwy_tools_no_lock(m)
#define gasnett_mutex_trylock(m) cwy_tools_no_lock_result(m)

typedef cwy_tools_no_lock_t gasnett_cond_t;
#define GASNETT_COND_INITIALIZER CWY_TOOLS_NO_LOCK
#define gasnett_cond_init(c) cwy_tools_no_lock_init(c)
#define gasnett_cond_destroy(c) cwy_tools_no_lock(c)
#define gasnett_cond_signal(c) cwy_tools_no_lock(c)
#define gasnett_cond_broadcast(c) cwy_tools_no_lock(c)
/* Nobody could ever signal it. */
static inline void gasnett_cond_wait(gasnett_cond_t* c, gasnett_mutex_t* m) {
  (void)c;
  (void)m;
  cwy_tools_lock_failed_v1("gasnett_cond_wait()", 0);
}

typedef cwy_tools_no_lock_t gasnett_rwlock_t;
#define GASNETT_RWLOCK_INITIALIZER CWY_TOOLS_NO_LOCK
#define gasnett_rwlock_init(l) cwy_tools_no_lock_init(l)
#define gasnett_rwlock_destroy(l) cwy_tools_no_lock(l)
#define gasnett_rwlock_rdlock(l) cwy_tools_no_lock(l)
#define gasnett_rwlock_wrlock(l) cwy_tools_no_lock(l)
#define gasnett_rwlock_unlock(l) cwy_tools_no_lock(l)
#define gasnett_rwlock_tryrdlock(l) cwy_tools_no_lock_result(l)
#define gasnett_rwlock_trywrlock(l) cwy_tools_no_lock_result(l)
#endif

/* Checks of debugging builds. */
#define gasnett_mutex_assertlocked(m) ((void)(m))
#define gasnett_mutex_assertunlocked(m) ((void)(m))
#define gasnett_rwlock_assertlocked(l) ((void)(l))
#define gasnett_rwlock_assertrdlocked(l) ((void)(l))
#define gasnett_rwlock_assertwrlocked(l) ((void)(l))
#define gasnett_rwlock_assertunlocked(l) ((void)(l))

#ifdef __cplusplus
}
#endif

/* ---- thread-specific pointers: k is an identifier; NULL at first in every thread ---- */
#define GASNETT_THREADKEY_DECLARE(k) extern __thread void* cwy_threadkey_##k
#define GASNETT_THREADKEY_DEFINE(k)        \
  extern __thread void* cwy_threadkey_##k; \
  __thread void* cwy_threadkey_##k = NULL
#define gasnett_threadkey_init(k) ((void)0)
#define gasnett_threadkey_get(k) (cwy_threadkey_##k)
#define gasnett_threadkey_set(k, v) ((void)(cwy_threadkey_##k = (void*)(v)))
#define gasnett_threadkey_get_noinit(k) gasnett_threadkey_get(k)
#define gasnett_threadkey_set_noinit(k, v) gasnett_threadkey_set(k, v)
/* A name that clients take the address of to keep their compilers quiet. */
static inline void _gasneti_threadkey_init(void) {}

#endif
