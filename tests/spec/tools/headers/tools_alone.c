/* gasnet_tools.h in the mode that the command line asks for; every inline function and macro
 * compiles when used. */
#include <gasnet_tools.h>
#include <portable_inttypes.h>
#include <portable_platform.h>
#undef _PORTABLE_PLATFORM_H
#include <gasnet_portable_platform.h>

#ifndef EXPECT_SAFE
#error "the test says what it expects"
#endif
#if EXPECT_SAFE
#if GASNETT_THREAD_SAFE != 1 || defined(GASNETT_THREAD_SINGLE)
#error "threads exist"
#endif
#elif GASNETT_THREAD_SINGLE != 1 || defined(GASNETT_THREAD_SAFE)
#error "one thread"
#endif
#if GASNETT_CACHE_LINE_BYTES < 16 || GASNETT_PAGESIZE < 4096
#error "literals"
#endif

GASNETT_IDENT(tools_alone_ident, "$ToolsAlone: 1 $");
GASNETT_THREADKEY_DECLARE(alone_key);
GASNETT_THREADKEY_DEFINE(alone_key);
static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;
static gasnett_atomic_t counter = gasnett_atomic_init(1);
static gasnett_atomic64_t counter64 = gasnett_atomic64_init(1);
static gasnett_strongatomic_t strong = gasnett_strongatomic_init(1);

int use_everything(char* text);
int use_everything(char* text) {
  int sum = 0;
  gasnett_mutex_lock(&mutex);
  if (sum) gasnett_cond_wait(&cond, &mutex);
  gasnett_cond_broadcast(&cond);
  gasnett_mutex_unlock(&mutex);
  sum += gasnett_mutex_trylock(&mutex);
  gasnett_rwlock_rdlock(&rwlock);
  gasnett_rwlock_unlock(&rwlock);
  sum += gasnett_rwlock_trywrlock(&rwlock);
  gasnett_atomic_increment(&counter, GASNETT_ATOMIC_REL);
  sum += (int)gasnett_atomic_add(&counter, 2, GASNETT_ATOMIC_ACQ);
  sum += (int)gasnett_atomic64_swap(&counter64, 2, 0);
  sum += gasnett_strongatomic_compare_and_swap(&strong, 1, 2, GASNETT_ATOMIC_MB_PRE);
  gasnett_threadkey_set(alone_key, text);
  sum += gasnett_threadkey_get(alone_key) == text;
  sum += gasnett_count0s_uint32_t(5) + gasnett_getenv_yesno_withdefault("A", 0);
  GASNETT_TRACE_PRINTF("%d", sum);
  GASNETT_TRACE_SETSOURCELINE("x", 1);
  if_pf(sum == 4711) gasnett_fatalerror("sum %d", sum);
  if_pt(text != NULL) gasnett_format_number(sum, text, 8, 1);
  gasnett_local_mb();
  gasnett_weak_mb();
  return sum + (int)gasnett_ticks_to_us(gasnett_ticks_now());
}
