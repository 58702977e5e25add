/* What programs ask the preprocessor: macros are 1 or not defined, exactly one of each group, and
 * constants are ones that #if and array bounds take. CONDUIT (0 to 6) says which conduit the
 * command line named; SEGMENT (F, L, E as 0, 1, 2) which segments, DEBUGGING (0, 1) whether it is a
 * debugging build. Would catch a name that is missing, defined as 0, or that clashes with a
 * client's own. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_tools.h>

#define ONE(x) ((x) + 0 == 1)
/* ---- exactly one conduit, and its names ---- */
#if defined(GASNET_CONDUIT_SMP) + defined(GASNET_CONDUIT_UDP) + defined(GASNET_CONDUIT_MPI) +      \
        defined(GASNET_CONDUIT_IBV) + defined(GASNET_CONDUIT_OFI) + defined(GASNET_CONDUIT_UCX) != \
    (CONDUIT != 0)
#error "one conduit, or none"
#endif
#if (CONDUIT == 1 && !ONE(GASNET_CONDUIT_SMP)) || (CONDUIT == 2 && !ONE(GASNET_CONDUIT_UDP)) || \
    (CONDUIT == 3 && !ONE(GASNET_CONDUIT_MPI)) || (CONDUIT == 4 && !ONE(GASNET_CONDUIT_IBV)) || \
    (CONDUIT == 5 && !ONE(GASNET_CONDUIT_OFI)) || (CONDUIT == 6 && !ONE(GASNET_CONDUIT_UCX))
#error "1 and nothing else"
#endif
#if defined(GASNET_CONDUIT_ARIES) || defined(GASNET_CONDUIT_PORTALS) || \
    defined(GASNET_CONDUIT_PSM) || defined(GASNET_CONDUIT_VAPI)
#error "conduits that do not exist here"
#endif

/* ---- debugging, tracing ---- */
#if defined(GASNET_DEBUG) + defined(GASNET_NDEBUG) != 1 || defined(GASNET_DEBUG) != DEBUGGING
#error "one of the two, as the client says"
#endif
#if DEBUGGING ? !ONE(GASNET_DEBUG) : !ONE(GASNET_NDEBUG)
#error "as 1"
#endif
#if defined(GASNET_TRACE) || defined(GASNET_STATS) || defined(GASNET_SRCLINES) || \
    defined(GASNET_DEBUGMALLOC)
#error "not unless asked for"
#endif

/* ---- segments and capabilities ---- */
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) !=                      \
    1
#error "exactly one"
#endif
#if (SEGMENT == 0 && !ONE(GASNET_SEGMENT_FAST)) || (SEGMENT == 1 && !ONE(GASNET_SEGMENT_LARGE)) || \
    (SEGMENT == 2 && !ONE(GASNET_SEGMENT_EVERYTHING))
#error "the one that was asked for, as 1"
#endif
/* Mapped peers: not where every address is in reach. */
#if defined(GASNET_PSHM) != (SEGMENT != 2) || (SEGMENT != 2 && !ONE(GASNET_PSHM))
#error "GASNET_PSHM"
#endif
#if !ONE(GASNET_HAVE_MK_CLASS_HOST) || !ONE(GASNET_NULL_ARGV_OK) ||                     \
    GASNET_HIDDEN_AM_CONCURRENCY_LEVEL < 0 || GASNET_SUPPORTS_AM_CANCEL != 20240418L || \
    GASNET_SUPPORTS_AM_COMMIT_V2 != 20240906L
#error "capabilities"
#endif
#if defined(GASNET_IBV_MULTIRAIL) || defined(GASNETC_IBV_MAX_HCAS_CONFIGURE) || \
    defined(GASNETC_IBV_RCV_THREAD)
#error "of another library"
#endif
#if GASNETI_MAX_THREADS != GASNETT_MAX_THREADS || GASNETT_MAX_THREADS < 1
#error "one limit under two names"
#endif
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
enum {
  GLUE(level_, GASNET_HIDDEN_AM_CONCURRENCY_LEVEL) = 1
}; /* a plain number: clients paste it */

/* ---- versions ---- */
#if GASNETT_RELEASE_VERSION_MAJOR != GASNET_RELEASE_VERSION_MAJOR || \
    GASNETT_RELEASE_VERSION_MINOR != GASNET_RELEASE_VERSION_MINOR || \
    GASNETT_RELEASE_VERSION_PATCH != GASNET_RELEASE_VERSION_PATCH
#error "the tools have the library's release"
#endif
#if defined(GASNETT_CONFIGURE_MISMATCH) || defined(GASNETT_USING_GETTIMEOFDAY) || \
    defined(GASNETT_USING_GENERIC_ATOMICOPS)
#error "nothing of that here"
#endif
#if defined(GASNETT_STRONGATOMIC_NOT_SIGNALSAFE) ||   \
    defined(GASNETT_STRONGATOMIC32_NOT_SIGNALSAFE) || \
    defined(GASNETT_STRONGATOMIC64_NOT_SIGNALSAFE)
#error "they are signal-safe"
#endif
#if GASNETT_PLATFORM_COMPILER_FAMILYID < 1 || GASNETT_PLATFORM_COMPILER_VERSION < 1 || \
    GASNETT_PLATFORM_COMPILER_ID < 1
#error "the compiler"
#endif
#if !ONE(GASNETT_SET_AFFINITY_SUPPORT)
#error "there is affinity"
#endif

/* ---- names that belong to clients ---- */
#if defined(GASNET_SAFE) || defined(GASNET_Safe) || defined(GASNET_BARRIER) ||               \
    defined(GASNET_PUT) || defined(GASNET_GET) || defined(GASNET_WAIT_ALL) ||                \
    defined(GASNET_WAIT_PUTS) || defined(GASNET_COLL_FLAGS) || defined(GEX_NO_PROTOTYPES) || \
    defined(GEX_NARGS) || defined(GEX_DT_PTS) || defined(gex_team) || defined(gex_dt) ||     \
    defined(gasnet_max_segsize)
#error "a client's own"
#endif

#define TEXT(x) _STRINGIFY(x)
static const char* const words[] = {TEXT(GASNET_CONDUIT_NAME),
                                    GASNET_CONDUIT_NAME_STR,
                                    TEXT(GASNET_CORE_NAME),
                                    GASNET_CORE_NAME_STR,
                                    TEXT(GASNET_CORE_VERSION),
                                    GASNET_CORE_VERSION_STR,
                                    TEXT(GASNET_EXTENDED_NAME),
                                    GASNET_EXTENDED_NAME_STR,
                                    TEXT(GASNET_EXTENDED_VERSION),
                                    GASNET_EXTENDED_VERSION_STR,
                                    GASNETT_CONFIGURE_ARGS,
                                    TEXT(GASNETT_DEBUG_CONFIG),
                                    TEXT(GASNETT_PTR_CONFIG),
                                    TEXT(GASNETT_TIMER_CONFIG),
                                    TEXT(GASNETT_MEMBAR_CONFIG),
                                    TEXT(GASNETT_ATOMIC_CONFIG),
                                    TEXT(GASNETT_ATOMIC32_CONFIG),
                                    TEXT(GASNETT_ATOMIC64_CONFIG),
                                    GASNETT_PLATFORM_COMPILER_IDSTR,
                                    GASNET_CONFIG_STRING,
                                    GASNETT_CONFIG_STRING};

/* ---- flags that no code needs to look at, as bits of their own ---- */
static const int flags[] = {
    GASNETT_ATOMIC_NONE, GASNETT_ATOMIC_RMB_POST_IF_TRUE | GASNETT_ATOMIC_RMB_POST_IF_FALSE,
    GASNET_COLL_DST_IN_SEGMENT | GASNET_COLL_SRC_IN_SEGMENT | GASNET_COLL_NO_IMAGES};

/* ---- annotations where clients put them ---- */
GASNETT_NORETURNP(never)
GASNETT_MALLOCP(fresh)
GASNETT_PUREP(pure)
GASNETT_CONSTP(constant)
GASNETT_DEPRECATED void old(void);
int wanted(void) GASNETT_WARN_UNUSED_RESULT;
GASNETT_FORMAT_PRINTF_FUNCPTR(printer, 1, 2, extern void (*printer)(const char* format, ...));
static void touch(void* base, uintptr_t size) {
  GASNETT_UNUSED_ARGS2(base, size);
}

size_t use(int kind);
size_t use(int kind) {
  gasnett_atomic_sval_t signed_value = -1;
  const gasnett_backtrace_type_t type = {"name", 0, 0};
  GASNETT_UNUSED_ARGS1(kind);
  GASNETT_UNUSED_ARGS3(kind, type, words);
  GASNETT_UNUSED_ARGS4(kind, kind, kind, kind);
  GASNETT_UNUSED_ARGS5(kind, kind, kind, kind, kind);
  GASNETT_UNUSED_ARGS6(kind, kind, kind, kind, kind, kind);
  GASNETT_UNUSED_ARGS7(kind, kind, kind, kind, kind, kind, kind);
  gasnet_client_attach_hook = touch;
  gasnett_envint_display("KEY", 4096, 1, 1);
  if (kind == 12345) gasnett_unreachable();
  return sizeof words + (size_t)flags[kind & 1] + (size_t)signed_value + (size_t)level_1;
}
