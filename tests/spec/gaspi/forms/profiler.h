/* Which procedures the profiler in this program has seen called. */
#ifndef FORMS_PROFILER_H
#define FORMS_PROFILER_H

enum {
  PROFILED_BARRIER = 1,
  PROFILED_SEGMENT_PTR = 2,
  PROFILED_ALLREDUCE_USER = 4,
  PROFILED_STATE_VEC = 8,
  PROFILED_TICKS = 16,
  PROFILED_COUNTER = 32,
  PROFILED_ALL = 63
};

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    unsigned profiled;

#endif
