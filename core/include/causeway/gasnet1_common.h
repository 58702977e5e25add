/* causeway/gasnet1_common.h - what programs of GASNet-EX take from GASNet-1.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnetex.h. Without a client of GASNet-1 these mean the team
 * of the first client.
 */
#ifndef CAUSEWAY_GASNET1_COMMON_H
#define CAUSEWAY_GASNET1_COMMON_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types: specification 1.7 ---- */
typedef gex_Rank_t gasnet_node_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T
#define GASNET_INVALID_HANDLE GEX_EVENT_INVALID

typedef struct {
  void* addr;
  uintptr_t size;
} gasnet_seginfo_t;

/* In memory what gex_Memvec_t is. */
typedef struct {
  void* addr;
  size_t len;
} gasnet_memvec_t;

/* ---- the job ---- */
/* Fills min(numentries, nodes) entries; {NULL, 0} for a node without a segment. GASNET_OK,
 * GASNET_ERR_NOT_INIT, GASNET_ERR_BAD_ARG. */
extern int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries);
/* The launcher hands its environment to every rank, so this is the process' own. */
extern char* gasnet_getenv(const char* name);

/* The objects behind this interface; each pointer may be NULL. GASNet-EX, "Hybrid/transitional
 * client support". */
extern void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p,
                                   gex_Segment_t* segment_p);

/* Where nodes run. `host`: equal for nodes of one machine. `supernode`: equal for nodes that share
 * memory. `offset`: what to add to an address in that node's segment to get this process' mapping
 * of it; 0 for this node, and for those whose memory is not mapped here; right once a segment is
 * attached. Fills min(n, nodes) entries; after gasnet_init or gex_Client_Init. GASNET_OK,
 * GASNET_ERR_NOT_INIT, GASNET_ERR_BAD_ARG. */
typedef struct {
  gasnet_node_t host;
  gasnet_node_t supernode;
  uintptr_t offset;
} gasnet_nodeinfo_t;
extern int gasnet_getNodeInfo(gasnet_nodeinfo_t* table, int n);

/* ---- barriers: 3.5 ---- */
#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH 2
/* Anonymous, and a promise that every node passes it. */
#define GASNET_BARRIERFLAG_UNNAMED 9
extern void gasnet_barrier_notify(int id, int flags);
extern int gasnet_barrier_wait(int id, int flags);
extern int gasnet_barrier_try(int id, int flags);
/* Notify and wait in one call. */
extern int gasnet_barrier(int id, int flags);
/* After a completed barrier: non-zero if no node gave a name, else 0 and *id is the common one.
 * After a mismatch: 0, and *id is what this node passed. id may be NULL. */
extern int gasnet_barrier_result(int* id);

/* ---- threads: 3.6 ---- */
/* The library finds a thread's data with one load, so there is nothing to pass around. */
typedef void* gasnet_threadinfo_t;
#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
#define GASNET_POST_THREADINFO(info) ((void)(info))
#define GASNET_BEGIN_FUNCTION() GASNET_POST_THREADINFO(GASNET_GET_THREADINFO())

#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2
/* SPIN: never sleeps; still lets others run where ranks outnumber processors. BLOCK: sleeps at
 * once. SPINBLOCK: what `waiting:` of the configuration says, and the default. For the whole
 * process, from any thread. GASNET_OK or GASNET_ERR_BAD_ARG. */
extern int gasnet_set_waitmode(int wait_mode);

#ifdef __cplusplus
}
#endif
#endif
