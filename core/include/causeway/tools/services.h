/* causeway/tools/services.h - what the tools offer as functions of the library.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_tools.h. All of these work before the library is
 * initialised and without it being initialised at all; any thread.
 */
#ifndef CAUSEWAY_TOOLS_SERVICES_H
#define CAUSEWAY_TOOLS_SERVICES_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- environment ---- */
/* NULL if unset. Owned by the environment. */
extern char* gasnett_getenv(const char* key);
/* `dflt` when unset; an empty value counts as set. With GASNET_VERBOSEENV, rank 0 reports each key
 * once on stderr; so with the forms below. What cannot be understood ends the process with a line
 * that names key and value. */
extern char* gasnett_getenv_withdefault(const char* key, const char* dflt);
extern int gasnett_getenv_yesno_withdefault(const char* key, int dflt);
extern int64_t gasnett_getenv_int_withdefault(const char* key, int64_t dflt,
                                              uint64_t mem_size_multiplier);
/* A number, or a fraction like 2/3. */
extern double gasnett_getenv_dbl_withdefault(const char* key, double dflt);
/* mem_size_multiplier 0: decimal or 0x-hexadecimal, with sign; what follows is ignored. Else a
 * memory size: fractions, units B to T of powers of 1024; without a unit, times the multiplier. */
extern int64_t gasnett_parse_int(const char* str, uint64_t mem_size_multiplier);
/* Writes into `buf` what parse_int reads, cut to `sz` bytes with terminator; returns `buf`. */
extern char* gasnett_format_number(int64_t val, char* buf, size_t sz, int is_mem_size);
/* This process only. */
extern void gasnett_setenv(const char* key, const char* value);
extern void gasnett_unsetenv(const char* key);
extern int gasnett_verboseenv(void);
/* Report a setting that the client read itself. */
extern void gasnett_envstr_display(const char* key, const char* val, int is_dflt);
extern void gasnett_envint_display(const char* key, int64_t val, int is_dflt, int is_mem_size);
extern void gasnett_envdbl_display(const char* key, double val, int is_dflt);

/* ---- errors ---- */
extern void cwy_tools_fatal_v1(const char* func, const char* file, int line, const char* fmt, ...)
    __attribute__((noreturn, cold, format(printf, 4, 5)));
extern void cwy_tools_fatal_nopos_v1(const char* fmt, ...)
    __attribute__((noreturn, cold, format(printf, 1, 2)));
/* Prints one line on stderr, a backtrace and a stop for a debugger where the environment asks for
 * them (GASNET_BACKTRACE, GASNET_FREEZE_ON_ERROR), and aborts. */
#define gasnett_fatalerror(...) cwy_tools_fatal_v1(__func__, __FILE__, __LINE__, __VA_ARGS__)
#define gasnett_fatalerror_nopos(...) cwy_tools_fatal_nopos_v1(__VA_ARGS__)
extern char* cwy_tools_location_v1(const char* func, const char* file, int line)
    __attribute__((malloc));
/* "func() at file:line", to be freed. */
#define gasnett_current_loc cwy_tools_location_v1(__func__, __FILE__, __LINE__)
/* Through a function: a pointer that programs test, and compilers do not know to be set. */
static inline const char* cwy_tools_text(const char* text) {
  return text;
}
#define GASNETT_CURRENT_FUNCTION cwy_tools_text(__func__)
/* Ends this process at once: no exit handlers, nothing flushed. */
extern void gasnett_killmyprocess(int exitcode) __attribute__((noreturn));
extern void gasnett_flush_streams(void);
extern void gasnett_close_streams(void);

/* ---- backtraces, debuggers, signals ---- */
extern void gasnett_backtrace_init(const char* exename);
/* Writes this thread's calls to `fd`. 0, or non-zero when that is not possible. */
extern int gasnett_print_backtrace(int fd);
/* The same if GASNET_BACKTRACE says so; clients may put a function of theirs here. */
extern int (*gasnett_print_backtrace_ifenabled)(int fd);
typedef struct {
  const char* name;
  int (*fnp)(int fd);
  int threadsupport;
} gasnett_backtrace_type_t;
/* A client may define this: its function is then tried first. */
extern gasnett_backtrace_type_t gasnett_backtrace_user;
/* Stops until *flag is no longer 0, which is for a debugger to bring about. */
extern void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flagsymname);
/* Does so if GASNET_FREEZE_ON_ERROR says so. */
extern void gasnett_freezeForDebuggerErr(void);
typedef void (*gasnett_sighandlerfn_t)(int);
extern gasnett_sighandlerfn_t gasnett_reghandler(int sigtocatch, gasnett_sighandlerfn_t fp);

/* ---- the system ---- */
extern const char* gasnett_gethostname(void);
/* Logical processors of this host; 0 if unknown. */
extern int gasnett_cpu_count(void);
/* Bytes of memory of this host; where that is not known, 0 or the end of the process. */
extern uint64_t gasnett_getPhysMemSz(int failure_is_fatal);
extern const char* gasnett_exe_name(void);
extern int gasnett_isLittleEndian(void);
/* What makes this library slower than it could be, in lines; usually "". */
extern const char* gasnett_performance_warning_str(void);
extern const char* gasnett_release_version_str(void);
extern uint64_t gasnett_release_version(void);

extern void gasnett_sched_yield(void);
#define GASNETT_SET_AFFINITY_SUPPORT 1
/* Pins the calling thread to processor `rank` modulo their number. 0 on success. */
extern int gasnett_set_affinity(int rank);
/* Raises the limits on processor time and memory to their hard values, but those for which
 * GASNET_MAXIMIZE_<limit> is 0. Non-zero on success. */
extern int gasnett_maximize_rlimits(void);
extern int gasnett_maximize_rlimit(int res, const char* lim_desc);

/* ---- data ---- */
/* How many bytes are 0; the first one copies as memcpy does. */
extern size_t gasnett_count0s_copy(void* dst, const void* src, size_t bytes);
extern size_t gasnett_count0s(const void* src, size_t bytes);
static inline int gasnett_count0s_uint64_t(uint64_t x) {
  /* Folds every byte onto its lowest bit, then counts those left 0. */
  x |= x >> 4;
  x |= x >> 2;
  x |= x >> 1;
  return 8 - __builtin_popcountll(x & UINT64_C(0x0101010101010101));
}
static inline int gasnett_count0s_uint32_t(uint32_t x) {
  return gasnett_count0s_uint64_t(x) - 4;
}
static inline int gasnett_count0s_uintptr_t(uintptr_t x) {
  return sizeof x == 8 ? gasnett_count0s_uint64_t(x) : gasnett_count0s_uint32_t((uint32_t)x);
}
/* Depends on every byte and on its place; the same on machines of one byte order. */
extern uint64_t gasnett_checksum(const void* p, int numbytes);

#ifdef __cplusplus
}
#endif
#endif
