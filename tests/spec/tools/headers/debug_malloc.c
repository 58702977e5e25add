/* The debugging allocator's names under every language level. */
#include <gasnet_tools.h>

#if GASNET_DEBUGMALLOC != 1
#error "normalised to 1"
#endif
int use(void);
int use(void) {
  gasnett_heapstats_t stats;
  char* a = (char*)gasnett_debug_malloc(3);
  char* b = gasnett_debug_strdup("x");
  a = (char*)gasnett_debug_realloc(a, 5);
  gasnett_debug_memcheck(a);
  gasnett_debug_memcheck_one();
  gasnett_debug_memcheck_all();
  gasnett_debug_free(a);
  gasnett_debug_free(b);
  gasnett_debug_free(gasnett_debug_calloc(2, 2));
  gasnett_debug_free(gasnett_debug_strndup("xyz", 2));
  return gasnett_getheapstats(&stats) + gasnett_heapinfo_dump("-", 0) + (int)stats.live_objects;
}
