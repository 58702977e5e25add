/* causeway/tools/tracing.h - tracing and statistics of the tools.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_tools.h. This library's own tracing is a conduit that
 * the configuration puts in front of others; a client's own trace lines go nowhere, and the calls
 * say so: nothing is enabled, masks are empty.
 */
#ifndef CAUSEWAY_TOOLS_TRACING_H
#define CAUSEWAY_TOOLS_TRACING_H

__attribute__((__format__(__printf__, 1, 2))) static inline void _gasnett_trace_printf_noop(
    const char* fmt, ...) {
  (void)fmt;
}

/* Functions, so that a value nobody looks at is no warning. */
static inline int cwy_tools_not_traced(void) {
  return 0;
}
static inline const char* cwy_tools_no_mask(void) {
  return "";
}

#define GASNETT_TRACE_ENABLED 0
#define GASNETT_TRACE_PRINTF _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_TRACE_GETMASK() cwy_tools_no_mask()
#define GASNETT_TRACE_SETMASK(mask) ((void)(mask))
#define GASNETT_TRACE_SETSOURCELINE(file, line) ((void)(file), (void)(line))
#define GASNETT_TRACE_GETSOURCELINE(pfile, pline) ((void)(pfile), (void)(pline))
#define GASNETT_TRACE_FREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_GET_TRACELOCAL() cwy_tools_not_traced()
#define GASNETT_TRACE_SET_TRACELOCAL(v) ((void)(v))

#define GASNETT_STATS_PRINTF _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_STATS_GETMASK() cwy_tools_no_mask()
#define GASNETT_STATS_SETMASK(mask) ((void)(mask))
#define GASNETT_STATS_DUMP(reset) ((void)(reset))
#define GASNETT_STATS_INIT(callback) ((void)(callback), cwy_tools_not_traced())

#endif
