/* A program that includes gasnetex.h and nothing else, and takes from it what such programs are
 * known to take: the barriers, wait modes, thread information, places and lists of GASNet-1, and
 * the helpers that only test programs call. Compiled as C and as C++, in every mode and standard,
 * with all warnings as errors.
 * Would catch: a name that has to be asked for by another header, an argument list that programs do
 * not use, a macro that warns where it is expanded. */
#include <gasnetex.h>

#if GASNET_BARRIERFLAG_UNNAMED == GASNET_BARRIERFLAG_ANONYMOUS || !GASNET_BARRIERFLAG_MISMATCH
#error "clients compare these with the preprocessor"
#endif

int barriers(void);
int barriers(void) {
  int name = 0, sum;
  GASNET_BEGIN_FUNCTION();
  gasnet_barrier_notify(name, GASNET_BARRIERFLAG_ANONYMOUS);
  while (gasnet_barrier_try(name, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_ERR_NOT_READY) {
    gasnet_AMPoll();
  }
  gasnet_barrier_notify(name, 0);
  sum = gasnet_barrier_wait(name, 0) + gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
  return sum + gasnet_barrier_result(&name) + gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK) +
         gasnet_set_waitmode(GASNET_WAIT_SPIN) + gasnet_set_waitmode(GASNET_WAIT_BLOCK);
}

int hint(gasnet_threadinfo_t info);
int hint(gasnet_threadinfo_t info) {
  GASNET_POST_THREADINFO(info);
  return 0;
}

/* Types of the two interfaces are one. */
gasnet_handle_t types(gex_TM_t tm, gasnet_node_t node, void* p);
gasnet_handle_t types(gex_TM_t tm, gasnet_node_t node, void* p) {
  const gasnet_memvec_t piece = {p, 8};
  const gasnet_seginfo_t segment = {p, 8};
  const gasnet_register_value_t value = piece.len + segment.size;
  gasnet_nodeinfo_t place;
  gasnet_handlerarg_t argument = hint(GASNET_GET_THREADINFO());
  gasnet_handler_t handler = GEX_AM_INDEX_BASE;
  gasnet_token_t token = (gasnet_token_t)p;
  if (gasnet_getNodeInfo(&place, 1) || gasnet_getSegmentInfo(NULL, 0) || !gasnet_getenv("HOME"))
    return GASNET_INVALID_HANDLE;
  gex_AM_ReplyShort(token, handler, 0, argument);
  return gex_RMA_PutNBVal(tm, node + place.host, p, value, sizeof value, 0);
}

/* Either argument list: with and without a place for statistics, which are not kept. */
size_t texts(char* buf, void* dst, void* src, const ptrdiff_t* strides, const size_t* count);
size_t texts(char* buf, void* dst, void* src, const ptrdiff_t* strides, const size_t* count) {
  return gasnett_format_putsgets_bufsz(2) +
         gasnett_format_putsgets(buf, dst, strides, src, strides, 8, count, 2) +
         gasnett_format_putsgets(buf, NULL, dst, strides, src, strides, 8, count, 2);
}

/* Three argument lists: a table of segments, the team with one, the team with two segments. */
int diagnostics(gex_TM_t tm, const gasnet_seginfo_t* segments);
int diagnostics(gex_TM_t tm, const gasnet_seginfo_t* segments) {
  gex_AM_Entry_t* handlers;
  int count;
  gasnett_diagnostic_gethandlers(&handlers, &count);
  return count + gasnett_run_diagnostics(1, 1, "AR", segments) +
         gasnett_run_diagnostics(1, 1, "AR", tm, segments) +
         gasnett_run_diagnostics(1, 1, NULL, tm, segments[0].addr, 0, segments[0].addr);
}
