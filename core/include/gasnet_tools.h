/* gasnet_tools.h - portable services for clients and their tools: timers, atomics, locks,
 * environment, errors, facts about the system. Interface 1.20, for C99 and C++11 or later.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Alone, or with gasnetex.h, which includes this header; it is included here when a threading mode
 * of it is defined.
 * Alone it needs no initialised library and takes GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE or
 * GASNETT_LITE_MODE from the client; without any of them it assumes threads if the compiler was
 * told of threads. LITE is what knows nothing of threads: timers, barriers, annotations, versions.
 */
#if defined(GASNETT_LITE_MODE) && defined(_INCLUDED_GASNETEX_H)
#error "GASNETT_LITE_MODE is for programs that do not include gasnetex.h"
#endif
#ifndef _INCLUDED_GASNET_TOOLS_H
#define _INCLUDED_GASNET_TOOLS_H

#if !defined(GASNETT_LITE_MODE) && \
    (defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR))
#include <gasnetex.h>
#endif

#include <gasnet_config.h>
#include <gasnet_portable_platform.h>
#include <portable_inttypes.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

/* ---- threads: one of SAFE, SINGLE, LITE, as 1 ---- */
#if defined(_INCLUDED_GASNETEX_H)
#if defined(GASNET_PAR)
#if defined(GASNETT_THREAD_SINGLE)
#error "GASNETT_THREAD_SINGLE contradicts GASNET_PAR"
#endif
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#else
#if defined(GASNETT_THREAD_SAFE)
#error "GASNETT_THREAD_SAFE contradicts GASNET_SEQ and GASNET_PARSYNC"
#endif
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#endif
#elif defined(GASNETT_LITE_MODE)
#if defined(GASNETT_THREAD_SAFE) || defined(GASNETT_THREAD_SINGLE)
#error "define at most one of GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE, GASNETT_LITE_MODE"
#endif
#undef GASNETT_LITE_MODE
#define GASNETT_LITE_MODE 1
#elif defined(GASNETT_THREAD_SAFE) && defined(GASNETT_THREAD_SINGLE)
#error "define at most one of GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE, GASNETT_LITE_MODE"
#elif defined(GASNETT_THREAD_SINGLE)
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#elif defined(GASNETT_THREAD_SAFE) || defined(_REENTRANT) || defined(_THREAD_SAFE) || \
    defined(PTHREAD_MUTEX_INITIALIZER)
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#else
#define GASNETT_THREAD_SINGLE 1
#endif

#if defined(GASNETT_THREAD_SAFE)
#include <pthread.h>
#define GASNETT_THREAD_MODEL PAR
#elif defined(GASNETT_THREAD_SINGLE)
#define GASNETT_THREAD_MODEL SEQ
#else
#define GASNETT_THREAD_MODEL LITE
#endif

#include <causeway/tools/annotations.h>
#include <causeway/tools/atomics.h>
#include <causeway/tools/tracing.h>

/* ---- versions and configuration ---- */
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH
#define GASNETT_PTR_CONFIG 64bit
#define GASNETT_TIMER_CONFIG clock_gettime
#ifdef GASNET_DEBUG
#define GASNETT_DEBUG_CONFIG debug
#else
#define GASNETT_DEBUG_CONFIG nodebug
#endif
/* What compiles the client; there is nothing in the library that another compiler would not fit. */
#define GASNETT_PLATFORM_COMPILER_IDSTR PLATFORM_COMPILER_IDSTR
#define GASNETT_PLATFORM_COMPILER_ID PLATFORM_COMPILER_ID
#define GASNETT_PLATFORM_COMPILER_FAMILYID PLATFORM_COMPILER_FAMILYID
#define GASNETT_PLATFORM_COMPILER_VERSION PLATFORM_COMPILER_VERSION
#define GASNETT_CONFIGURE_ARGS ""
#define GASNETT_CONFIG_STRING \
  "RELEASE=" _STRINGIFY(GASNETT_RELEASE_VERSION_MAJOR) "." _STRINGIFY(    \
      GASNETT_RELEASE_VERSION_MINOR) "." _STRINGIFY(GASNETT_RELEASE_VERSION_PATCH) ",SPEC=" _STRINGIFY( \
      GASNETT_SPEC_VERSION_MAJOR) "." _STRINGIFY(GASNETT_SPEC_VERSION_MINOR) ",THREADMODEL=" _STRINGIFY( \
      GASNETT_THREAD_MODEL) ",PTR=64bit,CACHE_LINE_BYTES=64," _STRINGIFY(GASNETT_DEBUG_CONFIG)

#if defined(__x86_64__)
#define GASNETT_SYSTEM_TUPLE "x86_64-pc-linux-gnu"
#elif defined(__aarch64__)
#define GASNETT_SYSTEM_TUPLE "aarch64-unknown-linux-gnu"
#elif defined(__powerpc64__)
#define GASNETT_SYSTEM_TUPLE "powerpc64le-unknown-linux-gnu"
#elif defined(__riscv)
#define GASNETT_SYSTEM_TUPLE "riscv64-unknown-linux-gnu"
#else
#define GASNETT_SYSTEM_TUPLE "unknown-unknown-linux-gnu"
#endif
/* The unit of segments, whatever the machine's own page is; and what separates two counters. */
#define GASNETT_PAGESIZE 4096
#define GASNETT_PAGESHIFT 12
#define GASNETT_CACHE_LINE_BYTES 64

#ifdef __cplusplus
extern "C" {
#endif

/* ---- timers: nanoseconds of a clock that is never set back ---- */
typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN ((gasnett_tick_t)0)
#define GASNETT_TICK_MAX (~(gasnett_tick_t)0)
extern gasnett_tick_t gasnett_ticks_now(void);
static inline uint64_t gasnett_ticks_to_ns(gasnett_tick_t d) {
  return d;
}
static inline uint64_t gasnett_ticks_to_us(gasnett_tick_t d) {
  return d / 1000;
}
/* Measured at the first call: the smallest observable step, and the cost of one reading, in µs. */
extern double gasnett_tick_granularityus(void);
extern double gasnett_tick_overheadus(void);
/* Microseconds since the epoch. */
extern uint64_t gasnett_gettimeofday_us(void);
/* 0 when ns have passed; -1 with errno EINTR when a signal came first. */
extern int gasnett_nsleep(uint64_t ns);

#ifdef __cplusplus
}
#endif

#ifndef GASNETT_LITE_MODE
#ifndef GASNETT_MAX_THREADS
#if defined(GASNETT_THREAD_SAFE)
#define GASNETT_MAX_THREADS 1024
#else
#define GASNETT_MAX_THREADS 1
#endif
#define GASNETI_MAX_THREADS GASNETT_MAX_THREADS
#endif
#include <causeway/tools/locks.h>
#include <causeway/tools/services.h>
#ifdef GASNET_DEBUGMALLOC
#include <causeway/tools/debug_malloc.h>
#endif
#if defined(_INCLUDED_GASNETEX_H)
#include <causeway/tools/conduit.h>
#endif
#endif

#endif
