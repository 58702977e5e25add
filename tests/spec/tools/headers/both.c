/* The tools and GASNet-EX in one file: in the documented order, and (TOOLS_FIRST) in the other,
 * which brings in gasnetex.h by itself. */
#ifdef TOOLS_FIRST
#include <gasnet_tools.h>
#include <gasnetex.h>
#else
#include <gasnetex.h>

#include <gasnet_tools.h>
#endif
#if !defined(_INCLUDED_GASNETEX_H) || !defined(_INCLUDED_GASNET_TOOLS_H)
#error "both"
#endif
#ifdef GASNET_PAR
#if GASNETT_THREAD_SAFE != 1 || GASNETT_MAX_THREADS < 2
#error "PAR has threads"
#endif
#elif GASNETT_THREAD_SINGLE != 1
#error "the tools count SEQ and PARSYNC as one thread"
#endif
gex_RMA_Value_t value(const void* src);
gex_RMA_Value_t value(const void* src) {
  GASNETT_VALUE_RETURN(src, 4);
}
