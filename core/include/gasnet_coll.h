/* gasnet_coll.h - collectives of GASNet-EX: broadcast and reductions (the barrier is in
 * gasnetex.h).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * GASNet-EX API v0.18, "Collectives (Coll)". What this implementation adds or chooses:
 * - Any number may be under way on one team and on several; those of one team begin in the same
 *   order on all members. They go forward in every call that polls.
 * - Teams need no scratch of the client's; there is no limit on dt_sz, and GEX_OP_USER_NC works:
 *   operands are combined in rank order.
 * - Equal calls give the same bits again within a run of the program, and a reduction to all gives
 *   the same bits on every rank.
 * - MIN and MAX of floating types follow the C expressions of the specification: a NaN on either
 *   side gives the right operand.
 * - Buffers may be anywhere in host memory; those in bound segments are the fastest. Of data
 *   movement and reductions `flags` may be one of GEX_FLAG_SELF_SEG_*, which is about the calling
 *   member's own buffers, both of them, and may differ between members: with _OFFSET they are
 *   offsets into what is bound to its endpoint.
 * - nbytes may be 0 for a broadcast. A reduction's dt_cnt must not be 0 by the specification; it
 *   is diagnosed with `checks: full`, and otherwise completes at once with nothing done.
 */
#ifndef _INCLUDED_GASNET_COLL_H
#define _INCLUDED_GASNET_COLL_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* arg2_and_out[i] = arg1[i] (op) arg2_and_out[i]. Runs inside calls that poll, on any thread that
 * polls; may call only what is allowed while a handler-safe lock is held. */
typedef void (*gex_Coll_ReduceFn_t)(const void* arg1, void* arg2_and_out, size_t count,
                                    const void* cdata);

/* All return a root event: GEX_EVENT_INVALID when the operation is already complete here. src and
 * dst belong to the library until it is. From client context only. With `checks: full` wrong
 * arguments end the job with one line. */
extern gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src,
                                        size_t nbytes, gex_Flags_t flags);
extern gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src,
                                          gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                          gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                          gex_Flags_t flags);
extern gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt,
                                          size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                          gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                          gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#include <causeway/gasnet1_coll.h>

#endif
