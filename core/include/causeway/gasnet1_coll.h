/* causeway/gasnet1_coll.h - the collectives of GASNet-1 that older clients still call.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not for direct inclusion: a part of gasnet_coll.h. All members call in the same order; one image
 * per process. Buffers are ordinary memory. A broadcast without ALLSYNC is gex_Coll_BroadcastNB;
 * all else moves over messages, each block straight from its owner: for start-up work.
 */
#ifndef CAUSEWAY_GASNET1_COLL_H
#define CAUSEWAY_GASNET1_COLL_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t gasnet_image_t;
typedef gex_TM_t gasnet_team_handle_t;
typedef gex_Event_t gasnet_coll_handle_t;
#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID

/* The primordial team of the GASNet-1 client, or of the first client where there is none. */
extern gex_TM_t cwy_gasnet1_team_all_v1(void);
#define GASNET_TEAM_ALL (cwy_gasnet1_team_all_v1())

/* One IN and one OUT. NOSYNC is served as MYSYNC. */
#define GASNET_COLL_IN_NOSYNC (1 << 0)
#define GASNET_COLL_IN_MYSYNC (1 << 1)
#define GASNET_COLL_IN_ALLSYNC (1 << 2)
#define GASNET_COLL_OUT_NOSYNC (1 << 3)
#define GASNET_COLL_OUT_MYSYNC (1 << 4)
#define GASNET_COLL_OUT_ALLSYNC (1 << 5)
#define GASNET_COLL_LOCAL (1 << 7)
/* Hints, not needed here. */
#define GASNET_COLL_DST_IN_SEGMENT (1 << 10)
#define GASNET_COLL_SRC_IN_SEGMENT (1 << 11)
#define GASNET_COLL_NO_IMAGES (1 << 19)

/* dst of every member gets the root's src; they may be the same memory. src counts at the root. */
extern void gasnet_coll_broadcast(gasnet_team_handle_t team, void* dst, gasnet_image_t srcimage,
                                  const void* src, size_t nbytes, int flags);
extern gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team, void* dst,
                                                     gasnet_image_t srcimage, const void* src,
                                                     size_t nbytes, int flags);
/* The root's dst gets a block of nbytes of each member, in rank order. */
extern void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void* dst,
                               const void* src, size_t nbytes, int flags);
extern gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team,
                                                  gasnet_image_t dstimage, void* dst,
                                                  const void* src, size_t nbytes, int flags);
/* The same at every member; src may be the member's own place in dst. */
extern void gasnet_coll_gather_all(gasnet_team_handle_t team, void* dst, const void* src,
                                   size_t nbytes, int flags);
extern gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team, void* dst,
                                                      const void* src, size_t nbytes, int flags);
/* Block i of the root's src goes to member i's dst. */
extern void gasnet_coll_scatter(gasnet_team_handle_t team, void* dst, gasnet_image_t srcimage,
                                const void* src, size_t nbytes, int flags);
extern gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team, void* dst,
                                                   gasnet_image_t srcimage, const void* src,
                                                   size_t nbytes, int flags);
/* Block i of src goes to member i, whose dst holds it as block number of the sender. */
extern void gasnet_coll_exchange(gasnet_team_handle_t team, void* dst, const void* src,
                                 size_t nbytes, int flags);
extern gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team, void* dst,
                                                    const void* src, size_t nbytes, int flags);

static inline void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) {
  gex_Event_Wait(handle);
}
/* GASNET_OK or GASNET_ERR_NOT_READY; makes progress. */
static inline int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  gasnet_AMPoll();
  return gex_Event_Test(handle) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
static inline void gasnet_coll_wait_sync_some(gasnet_coll_handle_t* handles, size_t numhandles) {
  gex_Event_WaitSome(handles, numhandles, 0);
}
static inline void gasnet_coll_wait_sync_all(gasnet_coll_handle_t* handles, size_t numhandles) {
  gex_Event_WaitAll(handles, numhandles, 0);
}
static inline int gasnet_coll_try_sync_some(gasnet_coll_handle_t* handles, size_t numhandles) {
  gasnet_AMPoll();
  return gex_Event_TestSome(handles, numhandles, 0) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
static inline int gasnet_coll_try_sync_all(gasnet_coll_handle_t* handles, size_t numhandles) {
  gasnet_AMPoll();
  return gex_Event_TestAll(handles, numhandles, 0) == 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}

/* The job's named barrier under other names; the team must be GASNET_TEAM_ALL. */
extern void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
extern int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
extern int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
extern int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);
extern int gasnet_coll_barrier_result(gasnet_team_handle_t team, int* id);

/* Of a tuner that does not exist here: algorithms are chosen by the configuration. */
static inline void gasnet_coll_dumpProfile(const char* file, gasnet_team_handle_t team) {
  (void)file;
  (void)team;
}
static inline void gasnet_coll_dumpTuningState(const char* file, gasnet_team_handle_t team) {
  (void)file;
  (void)team;
}
static inline void gasnet_coll_loadTuningState(const char* file, gasnet_team_handle_t team) {
  (void)file;
  (void)team;
}

#ifdef __cplusplus
}
#endif
#endif
