/* A program that expands every macro and calls every inline kind of the tools as programs do:
 * objects that one mode needs and another does not, values that are thrown away, annotations in
 * each of their places. Compiled as C and as C++, in every mode and standard, with all warnings as
 * errors.
 * Would catch: a lock that is nothing in GASNET_SEQ and leaves its variable unused, a macro whose
 * value is unused, one that is an extension of a newer language. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>

GASNETT_IDENT(quiet_ident, "$QuietClient: text $");
GASNETT_THREADKEY_DECLARE(quiet_key);
GASNETT_THREADKEY_DEFINE(quiet_key);

/* ---- locks: never used, only initialised, and used in full ---- */
static gasnett_mutex_t idle_mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;
static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
static gasnet_hsl_t old_hsl = GASNET_HSL_INITIALIZER;
static struct {
  gasnett_mutex_t lock;
  gasnett_cond_t wakeup;
  int count;
} guarded = {GASNETT_MUTEX_INITIALIZER, GASNETT_COND_INITIALIZER, 0};

void initialised_only(void);
void initialised_only(void) {
#ifdef GASNET_SEQ /* nothing to use there: programs leave it to the mode */
  gasnett_mutex_t unused = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t unused_cond = GASNETT_COND_INITIALIZER;
#endif
  gasnett_mutex_t local;
  gasnett_cond_t local_cond;
  gasnett_rwlock_t local_rwlock;
  gasnett_mutex_init(&local);
  gasnett_cond_init(&local_cond);
  gasnett_rwlock_init(&local_rwlock);
}

int locks(void);
int locks(void) {
  static gasnett_mutex_t inner = GASNETT_MUTEX_INITIALIZER;
  gasnett_mutex_t local = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t* const waited = &guarded.wakeup;
  static int sum; /* a thread's key outlives this call */
  gasnett_mutex_lock(&idle_mutex);
  gasnett_mutex_unlock(&idle_mutex);
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_assertlocked(&mutex);
  gasnett_cond_broadcast(&cond);
  gasnett_cond_signal(&cond);
  gasnett_cond_wait(&cond, &mutex);
  gasnett_mutex_unlock(&mutex);
  gasnett_mutex_assertunlocked(&mutex);
  if (gasnett_mutex_trylock(&inner) == 0) gasnett_mutex_unlock(&inner);
  gasnett_mutex_lock(&guarded.lock);
  gasnett_cond_signal(waited);
  gasnett_mutex_unlock(&guarded.lock);
  gasnett_mutex_destroy(&local);
  gasnett_mutex_destroy_ignoreerr(&inner);
  sum += gasnett_mutex_destroy_ignoreerr(&inner) + guarded.count;
  gasnett_cond_destroy(&cond);
  gasnett_rwlock_rdlock(&rwlock);
  gasnett_rwlock_assertrdlocked(&rwlock);
  gasnett_rwlock_unlock(&rwlock);
  gasnett_rwlock_wrlock(&rwlock);
  gasnett_rwlock_assertwrlocked(&rwlock);
  gasnett_rwlock_assertlocked(&rwlock);
  gasnett_rwlock_unlock(&rwlock);
  gasnett_rwlock_assertunlocked(&rwlock);
  if (gasnett_rwlock_tryrdlock(&rwlock) || gasnett_rwlock_trywrlock(&rwlock)) sum++;
  gasnett_rwlock_destroy(&rwlock);
  gex_HSL_Lock(&hsl);
  gex_HSL_Unlock(&hsl);
  gasnet_hsl_lock(&old_hsl);
  gasnet_hsl_unlock(&old_hsl);
  gasnett_threadkey_init(quiet_key);
  gasnett_threadkey_set(quiet_key, &sum);
  return sum + (gasnett_threadkey_get(quiet_key) == &sum);
}

/* ---- atomics ---- */
#define USE_ATOMIC(P, T, V)                                              \
  V use_##P(T* p);                                                       \
  V use_##P(T* p) {                                                      \
    static T word = P##_init(3);                                         \
    P##_set(p, 1, GASNETT_ATOMIC_REL);                                   \
    P##_increment(p, 0);                                                 \
    P##_decrement(&word, GASNETT_ATOMIC_NONE);                           \
    P##_add(p, 2, GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST);       \
    P##_swap(p, 2, GASNETT_ATOMIC_ACQ);                                  \
    if (P##_decrement_and_test(p, GASNETT_ATOMIC_ACQ_IF_TRUE)) {         \
      P##_compare_and_swap(p, 1, 2, GASNETT_ATOMIC_ACQ_IF_FALSE);        \
    }                                                                    \
    return P##_subtract(p, 1, GASNETT_ATOMIC_WMB_POST) + P##_read(p, 0); \
  }
USE_ATOMIC(gasnett_atomic, gasnett_atomic_t, gasnett_atomic_val_t)
USE_ATOMIC(gasnett_atomic32, gasnett_atomic32_t, uint32_t)
USE_ATOMIC(gasnett_atomic64, gasnett_atomic64_t, uint64_t)
USE_ATOMIC(gasnett_strongatomic, gasnett_strongatomic_t, gasnett_atomic_val_t)
USE_ATOMIC(gasnett_strongatomic32, gasnett_strongatomic32_t, uint32_t)
USE_ATOMIC(gasnett_strongatomic64, gasnett_strongatomic64_t, uint64_t)

/* ---- annotations, in each of their places ---- */
GASNETT_USED static int kept;
GASNETT_INLINE(inlined) int inlined(int x) {
  return x + 1;
}
int GASNETT_NEVER_INLINE(apart, apart(int x));
int GASNETT_NEVER_INLINE(apart, apart(int x)) {
  return inlined(x);
}
extern void ends(int) GASNETT_NORETURN;
GASNETT_NORETURNP(ends)
GASNETT_MALLOC extern void* fresh(size_t n);
GASNETT_PURE extern int pure_one(int);
GASNETT_CONST extern int const_one(int);
GASNETT_HOT extern void hot_one(void);
GASNETT_COLD extern void cold_one(void);
GASNETT_DEPRECATED extern void old_one(void);
extern int checked(void) GASNETT_WARN_UNUSED_RESULT;
GASNETT_FORMAT_PRINTF(say, 1, 2, extern void say(const char* fmt, ...));
GASNETT_BEGIN_EXTERNC
extern int in_c;
GASNETT_END_EXTERNC
GASNETT_EXTERNC int also_in_c;

int annotations(int x, const char* GASNETT_RESTRICT text);
int annotations(int x, const char* GASNETT_RESTRICT text) {
  GASNETT_UNUSED_ARGS2(text, kept);
  GASNETT_UNUSED_ARGS8(x, x, x, x, x, x, x, text);
  if_pf(x == 3) x++;
  if_pt(text) x--;
  switch (x) {
    case 1:
      x = 7;
      GASNETT_FALLTHROUGH
    case 2:
      x++;
      break;
    case 12:
      gasnett_unreachable();
    default:
      break;
  }
  gasnett_assume(x > 0);
  gasnett_compiler_fence();
  gasnett_local_mb(), gasnett_local_rmb(), gasnett_local_wmb();
  gasnett_weak_mb(), gasnett_weak_rmb(), gasnett_weak_wmb();
  gasnett_spinloop_hint();
  return MIN(x, 3) + MAX(x, 4) + gasnett_constant_p(x) + apart(x);
}

/* ---- tracing that goes nowhere ---- */
int traces(unsigned line);
int traces(unsigned line) {
  const char* file = "file";
  if (GASNETT_TRACE_ENABLED) line++;
  GASNETT_TRACE_PRINTF("line %u of %s", line, file);
  GASNETT_TRACE_PRINTF_FORCE("nothing");
  GASNETT_STATS_PRINTF("nothing");
  GASNETT_STATS_PRINTF_FORCE("%" PRIuSZ, sizeof line);
  GASNETT_TRACE_SETSOURCELINE(__FILE__, __LINE__);
  GASNETT_TRACE_GETSOURCELINE(&file, &line);
  GASNETT_TRACE_FREEZESOURCELINE();
  GASNETT_TRACE_UNFREEZESOURCELINE();
  GASNETT_TRACE_SETMASK(GASNETT_TRACE_GETMASK());
  GASNETT_STATS_SETMASK(GASNETT_STATS_GETMASK());
  GASNETT_TRACE_SET_TRACELOCAL(GASNETT_TRACE_GET_TRACELOCAL());
  GASNETT_STATS_DUMP(1);
  GASNETT_TRACE_GET_TRACELOCAL();
  GASNETT_STATS_INIT(NULL);
  return GASNETT_STATS_INIT(NULL) + (file != NULL);
}

/* ---- services ---- */
uint64_t services(void* p, size_t n);
uint64_t services(void* p, size_t n) {
  char number[32];
  static uint64_t place;
  char* loc = gasnett_current_loc;
  const gasnett_tick_t start = gasnett_ticks_now();
  GASNETT_FAST_ALIGNED_MEMCPY(p, number, n);
  GASNETT_FAST_UNALIGNED_MEMCPY(p, number, n);
  GASNETT_VALUE_ASSIGN(&place, n, 8);
  if (!loc || !GASNETT_CURRENT_FUNCTION) gasnett_fatalerror("no place");
  if (n == 17) gasnett_fatalerror("%" PRIuSZ " bytes of %" PRIu64, n, place);
  if (n == 18) gasnett_fatalerror_nopos("%s", gasnett_format_number(7, number, sizeof number, 1));
  free(loc);
  gasnett_sched_yield();
  gasnett_flush_streams();
  (gasnett_nsleep(1), gasnett_print_backtrace_ifenabled(2));
  if (gasnett_ticks_to_us(gasnett_ticks_now() - start) > 1) GASNETT_VALUE_RETURN(&place, 8);
  return place + (uint64_t)(gasnett_count0s_uint32_t(3) + gasnett_count0s_uintptr_t(n));
}

/* ---- what waits ---- */
static volatile int arrived;
int waits(gasnet_node_t node, void* p);
int waits(gasnet_node_t node, void* p) {
  GASNET_BLOCKUNTIL(arrived);
  GASNET_BLOCKUNTIL(arrived == 1 && p != NULL);
  gasnet_AMRequestShort0(node, 200);
  gasnet_AMRequestMedium2(node, 200, p, 8, 1, 2);
  gasnet_put_nbi(node, p, p, 8);
  gasnet_wait_syncnbi_all();
  gasnet_coll_broadcast(GASNET_TEAM_ALL, p, 0, p, 8,
                        GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  gasnet_coll_dumpProfile("file", GASNET_TEAM_ALL);
  return gasnet_try_syncnbi_all();
}
