/* LITE mode, after a client undefined the modes of gasnetex.h, as UPC++ does. */
#undef GASNET_SEQ
#undef GASNET_PAR
#define GASNETT_LITE_MODE
#include <gasnet_tools.h>

#if defined(GASNETT_THREAD_SAFE) || defined(GASNETT_THREAD_SINGLE) || defined(_INCLUDED_GASNETEX_H)
#error "LITE knows no threads"
#endif
#if GASNETT_SPEC_VERSION_MAJOR != 1 || GASNET_RELEASE_VERSION_MAJOR < 2000 || defined(GASNET_DEBUG)
#error "versions are there"
#endif
GASNETT_IDENT(lite_ident,
              "$LiteIdent: " PLATFORM_COMPILER_IDSTR _STRINGIFY(GASNETT_THREAD_MODEL) " $");
uint64_t elapsed(gasnett_tick_t since);
uint64_t elapsed(gasnett_tick_t since) {
  gasnett_local_mb();
  return gasnett_ticks_to_ns(gasnett_ticks_now() - since);
}
