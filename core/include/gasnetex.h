/* gasnetex.h - the GASNet-EX interface, for C99 and C++11 or later.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and semantics are those of the GASNet-EX specification, API version 0.18. One library
 * serves every threading mode and every transport: the macro GASNET_SEQ, GASNET_PARSYNC or
 * GASNET_PAR only tells gex_Client_Init what this program promises, and a configuration file
 * decides at start-up which transport reaches which peer. The comments here say what this
 * implementation adds or chooses; for the rest the specification stands. The GASNet tools come
 * with it ("Public Header Files").
 */
#ifndef _INCLUDED_GASNETEX_H
#define _INCLUDED_GASNETEX_H

#include <gasnet_fwd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <causeway/direct.h>

/* ---- threading mode: exactly one, normalised to 1 ---- */
#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "define exactly one of GASNET_SEQ, GASNET_PARSYNC, GASNET_PAR before including gasnetex.h"
#endif
#if defined(GASNET_SEQ)
#undef GASNET_SEQ
#define GASNET_SEQ 1
#define CWY_THREAD_MODE 0
#elif defined(GASNET_PARSYNC)
#undef GASNET_PARSYNC
#define GASNET_PARSYNC 1
#define CWY_THREAD_MODE 1
#else
#undef GASNET_PAR
#define GASNET_PAR 1
#define CWY_THREAD_MODE 2
#endif

/* ---- versions and facts about this library ---- */
#include <gasnet_config.h>
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR

/* Which memory of a process its peers may reach. FAST, unless the client defines another one:
 * - LARGE is FAST here: in both a segment is as large as the host's memory allows.
 * - EVERYTHING: any address of a peer that it could access itself. The primordial endpoints are
 *   bound to the whole address space from gex_Client_Init() on; gex_Segment_Attach() and
 *   gasnet_attach() allocate nothing, segment queries answer {NULL, (uintptr_t)-1}, and the
 *   gex_Segment_t is GEX_SEGMENT_INVALID. For all programs of a job or none. No peer's memory is
 *   mapped, so every operation on a peer is a call into the library. */
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) >                       \
    1
#error "define at most one of GASNET_SEGMENT_FAST, _LARGE, _EVERYTHING"
#endif
#if defined(GASNET_SEGMENT_EVERYTHING)
#undef GASNET_SEGMENT_EVERYTHING
#define GASNET_SEGMENT_EVERYTHING 1
#define CWY_SEGMENT_WORD "EVERYTHING"
#elif defined(GASNET_SEGMENT_LARGE)
#undef GASNET_SEGMENT_LARGE
#define GASNET_SEGMENT_LARGE 1
#define CWY_SEGMENT_WORD "LARGE"
#else
#undef GASNET_SEGMENT_FAST
#define GASNET_SEGMENT_FAST 1
#define CWY_SEGMENT_WORD "FAST"
#endif
/* A client may ask for 1: see gasnet_attach() in gasnet.h. */
#ifndef GASNET_ALIGNED_SEGMENTS
#define GASNET_ALIGNED_SEGMENTS 0
#endif
#ifndef GASNET_SEGMENT_EVERYTHING
#define GASNET_PSHM 1
#endif
#define GASNET_PAGESIZE 4096
#define GASNET_MAXNODES 1048576
#define GASNET_MAXEPS 64
#include <causeway/device_classes.h>
/* There is no limit; clients size tables and clip their own limits with this. */
#ifdef GASNET_SEQ
#define GASNETT_MAX_THREADS 1
#else
#define GASNETT_MAX_THREADS 1024
#endif
#define GASNETI_MAX_THREADS GASNETT_MAX_THREADS
#define GASNET_NULL_ARGV_OK 1
/* `threads.progress: thread` makes one thread that receives and sends, and runs handlers. */
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 1
#define GASNET_RCV_THREAD 1
#define GASNET_SND_THREAD 1
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP 1
#define GASNET_SUPPORTS_TI_ENTRY 1
#define GASNET_SUPPORTS_TI_IS_REQ 1
#define GASNET_SUPPORTS_TI_IS_LONG 1
/* Negotiated mediums without a client's buffer are built where the transport sends them from. A
 * negotiated long is as cheap as one from the client's own buffer, and no cheaper. */
#define GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM 1
#define GASNET_NATIVE_NP_ALLOC_REP_MEDIUM 1
#define GASNET_SUPPORTS_AM_CANCEL 20240418L
#define GASNET_SUPPORTS_AM_COMMIT_V2 20240906L

#include <causeway/identity.h>

/* ---- errors: specification "1.6 Errors" of GASNet-1 ---- */
#define GASNET_OK 0
#define GASNET_ERR_NOT_INIT 10001
#define GASNET_ERR_RESOURCE 10002
#define GASNET_ERR_BAD_ARG 10003
#define GASNET_ERR_NOT_READY 10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

#ifdef __cplusplus
extern "C" {
#endif

extern const char* gasnet_ErrorName(int errval);
extern const char* gasnet_ErrorDesc(int errval);

/* ---- objects ---- */
struct cwy_client;
struct cwy_segment;
struct cwy_ep;
typedef struct cwy_client* gex_Client_t;
typedef struct cwy_segment* gex_Segment_t;
typedef struct cwy_ep* gex_EP_t;
#define GEX_CLIENT_INVALID ((gex_Client_t)0)
#define GEX_SEGMENT_INVALID ((gex_Segment_t)0)
#define GEX_EP_INVALID ((gex_EP_t)0)

typedef struct {
  gex_Rank_t gex_rank;
  gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

typedef struct {
  void* gex_addr;
  size_t gex_len;
} gex_Memvec_t;

/* ---- clients ---- */
extern int cwy_client_init_v1(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                              const char* clientName, int* argc, char*** argv, gex_Flags_t flags,
                              int thread_mode, const uint32_t* direct_layout);

/* Tells the library as which conduit this program was built, before it reads its configuration. A
 * process whose parts were built for different ones ends with a line that says so. */
extern void cwy_identity_v1(const struct cwy_identity* identity);
#ifdef CWY_IDENTITY
extern const struct cwy_identity CWY_IDENTITY; /* in libgasnet-<conduit>-<mode>.a */
#endif
/* The same for GASNET_SEGMENT_EVERYTHING, and for GASNET_DEBUG, which makes `checks: full` the
 * default. */
extern void cwy_segment_everything_v1(void);
extern void cwy_debug_build_v1(void);
static inline void cwy_present_identity(void) {
#ifdef CWY_IDENTITY
  cwy_identity_v1(&CWY_IDENTITY);
#endif
#ifdef GASNET_SEGMENT_EVERYTHING
  cwy_segment_everything_v1();
#endif
#ifdef GASNET_DEBUG
  cwy_debug_build_v1();
#endif
}

/* Collective over the job. On failure prints one line and returns a GASNET_ERR_* code; the
 * outputs are then untouched. */
static inline int gex_Client_Init(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                                  const char* clientName, int* argc, char*** argv,
                                  gex_Flags_t flags) {
  cwy_present_identity();
  return cwy_client_init_v1(client_p, ep_p, tm_p, clientName, argc, argv, flags, CWY_THREAD_MODE,
                            &cwy_direct_v1);
}
extern gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
extern const char* gex_Client_QueryName(gex_Client_t client);
extern void gex_Client_SetCData(gex_Client_t client, const void* val);
extern void* gex_Client_QueryCData(gex_Client_t client);

/* Ends the job from any rank; never returns. GASNet-1 specification 2.1.5. */
extern void gasnet_exit(int exitcode) __attribute__((noreturn));

/* ---- the job ---- */
extern gex_Rank_t gex_System_QueryJobRank(void);
extern gex_Rank_t gex_System_QueryJobSize(void);
extern int gex_System_GetVerboseErrors(void);
extern void gex_System_SetVerboseErrors(int enable);
extern uint64_t cwy_max_threads_v1(int thread_mode);
static inline uint64_t gex_System_QueryMaxThreads(void) {
  return cwy_max_threads_v1(CWY_THREAD_MODE);
}
extern int gex_System_QueryHiddenAMConcurrencyLevel(void);

/* Progress threads that GEX_FLAG_DEFER_THREADS left to the client. */
#define GEX_THREAD_ROLE_RCV (1u << 0)
#define GEX_THREAD_ROLE_SND (1u << 1)
typedef struct {
  const char* gex_device_list; /* names of conduits, as the configuration calls them */
  unsigned int gex_thread_roles;
  void* (*gex_progress_fn)(void*); /* never returns */
  void* gex_progress_arg;
} gex_ProgressThreadInfo_t;
/* Once per client. GASNET_ERR_RESOURCE for a client without GEX_FLAG_DEFER_THREADS, and the second
 * time. *info_p stays valid until the process ends. */
extern int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                           const gex_ProgressThreadInfo_t** info_p,
                                           gex_Flags_t flags);

typedef const struct cwy_rank_info { gex_Rank_t gex_jobrank; } gex_RankInfo_t;
extern void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                      gex_Rank_t* my_info_index_p);
extern void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                     gex_Rank_t* my_info_index_p);
extern void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size_p, gex_Rank_t* nbrhd_set_rank_p,
                                       gex_Rank_t* host_set_size_p, gex_Rank_t* host_set_rank_p);

/* ---- segments ---- */
struct cwy_memkind;
typedef struct cwy_memkind* gex_MK_t;
#define GEX_MK_INVALID ((gex_MK_t)0)
/* No object: a number that clients compare. */
#define GEX_MK_HOST ((gex_MK_t)(uintptr_t)1)

/* Called with each segment that the library allocates, before its peers learn of it: the place to
 * touch its pages. NULL until a client sets it, before it allocates. */
extern void (*gasnet_client_attach_hook)(void* base, uintptr_t size);
extern uintptr_t gasnet_getMaxLocalSegmentSize(void);
extern uintptr_t gasnet_getMaxGlobalSegmentSize(void);
extern int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size);
extern int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client, gex_Addr_t address,
                              uintptr_t length, gex_MK_t kind, gex_Flags_t flags);
extern void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);
extern gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg);
extern gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);
extern void* gex_Segment_QueryAddr(gex_Segment_t seg);
extern uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);
extern void gex_Segment_SetCData(gex_Segment_t seg, const void* val);
extern void* gex_Segment_QueryCData(gex_Segment_t seg);
extern int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                  void** localaddr_p, uintptr_t* size_p);

/* ---- endpoints ---- */
extern gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
extern gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
extern gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
extern gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);
extern void gex_EP_SetCData(gex_EP_t ep, const void* val);
extern void* gex_EP_QueryCData(gex_EP_t ep);
/* The endpoint's index is the smallest that the client does not use yet. Every capability is
 * there; at least one has to be named. GASNET_ERR_RESOURCE when GASNET_MAXEPS exist. */
extern int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                         gex_Flags_t flags);
/* A segment that was destroyed leaves its endpoints unbound: another one may be bound then. */
extern int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);
extern int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps,
                                      gex_Flags_t flags);
extern gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                              void** localaddr_p, uintptr_t* size_p,
                                              gex_Flags_t flags);

/* ---- teams ---- */
extern gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
extern gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
extern gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
static inline gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) {
  return tm->rank;
}
static inline gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) {
  return tm->size;
}
extern void gex_TM_SetCData(gex_TM_t tm, const void* val);
extern void* gex_TM_QueryCData(gex_TM_t tm);
/* Scratch is kept for the team and given back by gex_TM_Destroy; collectives work without it. */
extern size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key,
                           void* scratch_addr, size_t scratch_size, gex_Flags_t flags);
extern size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                            gex_EP_Location_t* args, size_t numargs, gex_Addr_t* scratch_addrs,
                            size_t scratch_size, gex_Flags_t flags);
extern size_t gex_TM_Dup(gex_TM_t* new_tm_p, gex_TM_t orig_tm, gex_Addr_t scratch_addr,
                         size_t scratch_len, gex_Flags_t flags);
/* Waits for all members, unless GEX_FLAG_GLOBALLY_QUIESCED says that they have been waited for. Of
 * several members in one process only the last call waits. */
extern int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags);
extern gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);
extern gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
extern gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
extern gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags);

/* ---- active messages ---- */
typedef uint8_t gex_AM_Index_t;
typedef int32_t gex_AM_Arg_t;
struct cwy_token;
typedef struct cwy_token* gex_Token_t;
/* Without a prototype, so that C clients may name handlers in tables without a cast. (In C23 this
 * means no arguments, and a cast is needed, as in C++.) Newer compilers warn of it. */
#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
typedef void (*gex_AM_Fn_t)();
#ifndef __cplusplus
#pragma GCC diagnostic pop
#endif
#define GEX_AM_INDEX_BASE 128

typedef struct {
  gex_AM_Index_t gex_index;
  gex_AM_Fn_t gex_fnptr;
  gex_Flags_t gex_flags;
  unsigned int gex_nargs;
  const void* gex_cdata;
  const char* gex_name;
} gex_AM_Entry_t;

extern int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries);

static inline unsigned int gex_AM_MaxArgs(void) {
  return 16;
}
extern size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt,
                                    gex_Flags_t flags, unsigned int numargs);
extern size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt,
                                  gex_Flags_t flags, unsigned int numargs);
extern size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt,
                                      gex_Flags_t flags, unsigned int numargs);
extern size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t* lc_opt,
                                    gex_Flags_t flags, unsigned int numargs);
extern size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t* lc_opt,
                                     gex_Flags_t flags, unsigned int numargs);
extern size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t* lc_opt,
                                       gex_Flags_t flags, unsigned int numargs);
extern size_t gex_AM_LUBRequestLong(void);
extern size_t gex_AM_LUBReplyLong(void);
extern size_t gex_AM_LUBRequestMedium(void);
extern size_t gex_AM_LUBReplyMedium(void);

typedef struct {
  gex_Rank_t gex_srcrank;
  gex_EP_t gex_ep;
  const gex_AM_Entry_t* gex_entry;
  uint8_t gex_is_req;
  uint8_t gex_is_long;
} gex_Token_Info_t;
typedef uint32_t gex_TI_t;
#define GEX_TI_SRCRANK (1u << 0)
#define GEX_TI_EP (1u << 1)
#define GEX_TI_ENTRY (1u << 2)
#define GEX_TI_IS_REQ (1u << 3)
#define GEX_TI_IS_LONG (1u << 4)
#define GEX_TI_ALL 0x1Fu
extern gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t* info, gex_TI_t mask);

extern int cwy_am_request_short_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                   gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);
extern int cwy_am_request_medium_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                    const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                    gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);
extern int cwy_am_request_long_v1(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                  const void* source_addr, size_t nbytes, void* dest_addr,
                                  gex_Event_t* lc_opt, gex_Flags_t flags, unsigned nargs,
                                  const gex_AM_Arg_t* args);
extern int cwy_am_reply_short_v1(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                                 unsigned nargs, const gex_AM_Arg_t* args);
extern int cwy_am_reply_medium_v1(gex_Token_t token, gex_AM_Index_t handler,
                                  const void* source_addr, size_t nbytes, gex_Event_t* lc_opt,
                                  gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);
extern int cwy_am_reply_long_v1(gex_Token_t token, gex_AM_Index_t handler, const void* source_addr,
                                size_t nbytes, void* dest_addr, gex_Event_t* lc_opt,
                                gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t* args);

/* Negotiated payload. A descriptor belongs to the thread that prepared it, and a thread has one at
 * a time: between Prepare and Commit (or Cancel) it may not communicate. The two members are what
 * the queries answer; the rest of the object is the library's. */
struct cwy_am_src_desc {
  void* cwy_addr;
  size_t cwy_size;
};
typedef struct cwy_am_src_desc* gex_AM_SrcDesc_t;
#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0)
/* Ends the job: GEX_AM_SRCDESC_NO_OP describes no buffer. */
extern void cwy_am_no_src_desc_v1(const char* call) __attribute__((noreturn));
static inline void* gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd) {
  if (__builtin_expect(!sd, 0)) cwy_am_no_src_desc_v1("gex_AM_SrcDescAddr()");
  return sd->cwy_addr;
}
static inline size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd) {
  if (__builtin_expect(!sd, 0)) cwy_am_no_src_desc_v1("gex_AM_SrcDescSize()");
  return sd->cwy_size;
}
/* Library-provided buffers (client_buf NULL) are aligned to 16 bytes. GEX_FLAG_IMMEDIATE answers
 * GEX_AM_SRCDESC_NO_OP while the transport has no room; otherwise these wait for room. */
extern gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank,
                                                    const void* client_buf, size_t least_payload,
                                                    size_t most_payload, gex_Event_t* lc_opt,
                                                    gex_Flags_t flags, unsigned int numargs);
extern gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void* client_buf,
                                                  size_t least_payload, size_t most_payload,
                                                  gex_Event_t* lc_opt, gex_Flags_t flags,
                                                  unsigned int numargs);
extern gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank,
                                                  const void* client_buf, size_t least_payload,
                                                  size_t most_payload, void* dest_addr,
                                                  gex_Event_t* lc_opt, gex_Flags_t flags,
                                                  unsigned int numargs);
extern gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void* client_buf,
                                                size_t least_payload, size_t most_payload,
                                                void* dest_addr, gex_Event_t* lc_opt,
                                                gex_Flags_t flags, unsigned int numargs);
/* Extension: give a descriptor back instead of committing it. Nothing is sent, the event named by
 * lc_opt is untouched, and a request whose reply was cancelled may be replied to. `flags` must be
 * 0. GASNET_OK. */
extern int gex_AM_CancelRequestMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
extern int gex_AM_CancelRequestLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
extern int gex_AM_CancelReplyMedium(gex_AM_SrcDesc_t sd, gex_Flags_t flags);
extern int gex_AM_CancelReplyLong(gex_AM_SrcDesc_t sd, gex_Flags_t flags);

extern int cwy_am_commit_request_medium_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,
                                           size_t nbytes, gex_Flags_t flags, unsigned nargs,
                                           const gex_AM_Arg_t* args);
extern int cwy_am_commit_reply_medium_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                         gex_Flags_t flags, unsigned nargs,
                                         const gex_AM_Arg_t* args);
extern int cwy_am_commit_request_long_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                         void* dest_addr, gex_Flags_t flags, unsigned nargs,
                                         const gex_AM_Arg_t* args);
extern int cwy_am_commit_reply_long_v1(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                       void* dest_addr, gex_Flags_t flags, unsigned nargs,
                                       const gex_AM_Arg_t* args);
#include <causeway/am_calls.h>

/* ---- progress ---- */
/* Runs handlers and completions that have arrived. GASNET_OK. */
extern int gasnet_AMPoll(void);

/* One wait: polls, then yields, then sleeps, as long as nothing arrives. */
typedef struct {
  uint64_t cwy_state[4];
} cwy_waiter_t;
extern void cwy_wait_begin_v1(cwy_waiter_t* waiter);
extern void cwy_wait_step_v1(cwy_waiter_t* waiter);
/* A fence: what the handler that fulfilled the condition wrote is visible. */
extern void cwy_wait_end_v1(void);
#define GASNET_BLOCKUNTIL(cond)         \
  do {                                  \
    if (!(cond)) {                      \
      cwy_waiter_t cwy_waiter_;         \
      cwy_wait_begin_v1(&cwy_waiter_);  \
      do {                              \
        cwy_wait_step_v1(&cwy_waiter_); \
      } while (!(cond));                \
    }                                   \
    cwy_wait_end_v1();                  \
  } while (0)

/* ---- events and implicit operations ---- */
extern int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
extern void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
extern int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
extern void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
extern gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);
extern int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
extern void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);
extern void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
extern gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);

/* ---- handler-safe locks ---- */
typedef struct {
  pthread_mutex_t cwy_mutex;
} gex_HSL_t;
#define GEX_HSL_INITIALIZER \
  { PTHREAD_MUTEX_INITIALIZER }
extern void gex_HSL_Init(gex_HSL_t* hsl);
extern void gex_HSL_Destroy(gex_HSL_t* hsl);
extern void gex_HSL_Lock(gex_HSL_t* hsl);
extern void gex_HSL_Unlock(gex_HSL_t* hsl);
extern int gex_HSL_Trylock(gex_HSL_t* hsl); /* GASNET_OK or GASNET_ERR_NOT_READY */

/* ---- the one collective that lives here ---- */
extern gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);
/* Beyond the specification: the same, and waits. */
static inline void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, flags));
}

#ifdef __cplusplus
}
#endif

#include <causeway/gasnet1_common.h>
#include <gasnet_tools.h>

#endif
