/* The inline functions of the client headers once more, as symbols that bindings of other languages
 * find with dlsym(): `static inline` is compiled as `extern inline`, which in C is a definition
 * that others may call. So a function that is added to a header has its symbol; core/causeway.map
 * exports those with a public prefix. tests/bindings compares the headers with the library.
 * declarations.awk makes causeway/bindings.h of this file's preprocessed text.
 *
 * Such clients may have threads, so this is the mode they get from gex_Client_Init(). */
#define GASNET_PAR 1

/* All of the system's headers that ours include: `static` keeps its meaning in them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#define static extern
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <gasnet_vis.h>
#undef static
#pragma GCC visibility pop

/* In this mode these names are macros for entries of the library. */
#undef gasnett_rwlock_init
#undef gasnett_rwlock_destroy
#undef gasnett_rwlock_rdlock
#undef gasnett_rwlock_wrlock
#undef gasnett_rwlock_unlock
#undef gasnett_rwlock_tryrdlock
#undef gasnett_rwlock_trywrlock
#undef gasnett_run_diagnostics
#pragma GCC visibility push(default)
extern inline void gasnett_rwlock_init(gasnett_rwlock_t* l) {
  cwy_tools_rwlock_init_v1(l);
}
extern inline void gasnett_rwlock_destroy(gasnett_rwlock_t* l) {
  cwy_tools_rwlock_destroy_v1(l);
}
extern inline void gasnett_rwlock_rdlock(gasnett_rwlock_t* l) {
  cwy_tools_rwlock_rdlock_v1(l);
}
extern inline void gasnett_rwlock_wrlock(gasnett_rwlock_t* l) {
  cwy_tools_rwlock_wrlock_v1(l);
}
extern inline void gasnett_rwlock_unlock(gasnett_rwlock_t* l) {
  cwy_tools_rwlock_unlock_v1(l);
}
extern inline int gasnett_rwlock_tryrdlock(gasnett_rwlock_t* l) {
  return cwy_tools_rwlock_tryrdlock_v1(l);
}
extern inline int gasnett_rwlock_trywrlock(gasnett_rwlock_t* l) {
  return cwy_tools_rwlock_trywrlock_v1(l);
}
extern inline int gasnett_run_diagnostics(int iter_cnt, int threadcnt, const char* testsections,
                                          const void* seginfo) {
  return cwy_tools_run_diagnostics_v1(iter_cnt, threadcnt, testsections, seginfo);
}
#pragma GCC visibility pop
