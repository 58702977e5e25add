/* A client that forbids whatever the headers would use of the compiler, gives hints that are for
 * others, and has restrict spelled its own way: everything compiles all the same. */
#define GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE 0
#define GASNETT_USE_GCC_ATTRIBUTE_NOINLINE 0
#define GASNETT_USE_GCC_ATTRIBUTE_MALLOC 0
#define GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT 0
#define GASNETT_USE_GCC_ATTRIBUTE_USED 0
#define GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS 0
#define GASNETT_USE_GCC_ATTRIBUTE_NORETURN 0
#define GASNETT_USE_GCC_ATTRIBUTE_PURE 0
#define GASNETT_USE_GCC_ATTRIBUTE_CONST 0
#define GASNETT_USE_GCC_ATTRIBUTE_HOT 0
#define GASNETT_USE_GCC_ATTRIBUTE_COLD 0
#define GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED 0
#define GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH 0
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT 0
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR 0
#define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG 0
#define GASNETT_USE_RESTRICT
#define GASNETT_USE_RESTRICT_ON_TYPEDEFS 0
#define GASNETT_USE_BUILTIN_CONSTANT_P 0
#define GASNETT_USE_BUILTIN_PREFETCH 0
#define GASNETT_USE_BUILTIN_EXPECT 0
#define GASNETT_USE_BUILTIN_UNREACHABLE 0
#define GASNETT_USE_ASSUME 0
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 0
#define GASNETE_PUTGET_ALWAYSREMOTE 1
#define GASNETI_BUG1389_WORKAROUND 1
#define GASNETI_FORCE_PIC 1
#define GASNETT_USE_TRUE_MUTEXES 1
#define GASNETT_MALLOC_USE_SRCPOS 1
#define GASNET_DEBUGMALLOC 1
#include <gasnet.h>

#include <gasnet_tools.h>

#if GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
#error "readable afterwards, as given"
#endif
GASNETT_INLINE(twice) int twice(int x) {
  return 2 * x;
}
GASNETT_NEVER_INLINE(thrice, static int thrice(int x)) {
  return 3 * x;
}
GASNETT_USED static int kept(char* GASNETT_RESTRICT a) {
  return *a;
}
GASNETT_FORMAT_PRINTF(print, 1, 2, void print(const char* format, ...));
void never(void) GASNETT_NORETURN;
GASNETT_MALLOC void* fresh(void);
GASNETT_PURE int pure_one(int x);
GASNETT_CONST int const_one(int x);
GASNETT_HOT GASNETT_COLD GASNETT_DEPRECATED void strange(void);
GASNETT_WARN_UNUSED_RESULT int wanted(void);

int use(int x);
int use(int x) {
  static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  char c = (char)x;
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_unlock(&mutex);
  if_pf(GASNETT_PREDICT_TRUE(x) && GASNETT_PREDICT_FALSE(x == 3)) return gasnett_constant_p(x);
  gasnett_assume(x != 4);
  switch (x) {
    case 1:
      x = twice(x);
      GASNETT_FALLTHROUGH
    case 2:
      x = thrice(x) + kept(&c);
      break;
    case 5:
      gasnett_unreachable();
  }
  gasnett_debug_free(gasnett_debug_malloc(1));
  return x;
}
