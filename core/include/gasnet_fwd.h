/* gasnet_fwd.h - constants and stand-alone types of GASNet-EX, safe to include from a client's
 * own headers: no functions, no structures. GASNet-EX API v0.18, "The gasnet_fwd.h header".
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef _INCLUDED_GASNET_FWD_H
#define _INCLUDED_GASNET_FWD_H

#include <stddef.h>
#include <stdint.h>

/* Constants of the 32-bit types carry no cast: clients use them in #if. 1u is of these types. */
typedef uint32_t gex_Rank_t;
#define GEX_RANK_INVALID 0xFFFFFFFFu

typedef uint16_t gex_EP_Index_t;
#define GEX_EP_INDEX_INVALID ((gex_EP_Index_t)0xFFFFu)
typedef void* gex_Addr_t;

/* An event is the address of a library object with the leaf in its low bits; 0 is "complete", and
 * no object is at the address 0 that GEX_EVENT_NO_OP would be a leaf of. Clients compare the
 * constants with their numbers. */
struct cwy_event_opaque;
typedef struct cwy_event_opaque* gex_Event_t;
#define GEX_EVENT_INVALID ((gex_Event_t)0)
#define GEX_EVENT_NO_OP ((gex_Event_t)(uintptr_t)1)
#define GEX_EVENT_NOW ((gex_Event_t*)(uintptr_t)1)
#define GEX_EVENT_DEFER ((gex_Event_t*)(uintptr_t)2)
#define GEX_EVENT_GROUP ((gex_Event_t*)(uintptr_t)3)

typedef uint32_t gex_Flags_t;

/* Point-to-point communication. */
#define GEX_FLAG_IMMEDIATE (1u << 0)
#define GEX_FLAG_LC_COPY_YES (1u << 1)
#define GEX_FLAG_LC_COPY_NO (1u << 2)
#define GEX_FLAG_PEER_NEVER_SELF (1u << 3)
#define GEX_FLAG_PEER_NEVER_NBRHD (1u << 4)
#define GEX_FLAG_SELF_SEG_UNKNOWN (1u << 5)
#define GEX_FLAG_SELF_SEG_SOME (1u << 6)
#define GEX_FLAG_SELF_SEG_BOUND (1u << 7)
#define GEX_FLAG_SELF_SEG_OFFSET (1u << 8)
#define GEX_FLAG_PEER_SEG_UNKNOWN (1u << 9)
#define GEX_FLAG_PEER_SEG_SOME (1u << 10)
#define GEX_FLAG_PEER_SEG_BOUND (1u << 18)
#define GEX_FLAG_PEER_SEG_OFFSET (1u << 19)
#define GEX_FLAG_RANK_IS_JOBRANK (1u << 13)
#define GEX_FLAG_AD_MY_RANK (1u << 14)
#define GEX_FLAG_AD_MY_NBRHD (1u << 15)
#define GEX_FLAG_AD_ACQ (1u << 16)
#define GEX_FLAG_AD_REL (1u << 17)
/* Clients compare these two with their numbers. */
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT (1u << 11)
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC (1u << 12)
#define GEX_FLAG_ENABLE_LEAF_LC (1u << 20)

/* Atomic domains, at creation. */
#define GEX_FLAG_AD_FAVOR_MY_RANK (1u << 0)
#define GEX_FLAG_AD_FAVOR_MY_NBRHD (1u << 1)
#define GEX_FLAG_AD_FAVOR_REMOTE (1u << 2)

/* Clients and objects. */
#define GEX_FLAG_USES_GASNET1 (1u << 0)
#define GEX_FLAG_DEFER_THREADS (1u << 1)
#define GEX_FLAG_GLOBALLY_QUIESCED (1u << 2)
#define GEX_FLAG_HINT_ACCEL_AD (1u << 3)
#define GEX_FLAG_HINT_ACCEL_COLL (1u << 4)
#define GEX_FLAG_HINT_ACCEL_ALL (GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL)

/* Teams and their scratch. */
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN (1u << 21)
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 22)
#define GEX_FLAG_TM_GLOBAL_SCRATCH (1u << 23)
#define GEX_FLAG_TM_LOCAL_SCRATCH (1u << 24)
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH (1u << 25)
#define GEX_FLAG_TM_NO_SCRATCH (1u << 26)
#define GEX_FLAG_SCRATCH_SEG_OFFSET (1u << 27)

/* Handler registration. A category and a direction are required each. */
#define GEX_FLAG_AM_SHORT (1u << 0)
#define GEX_FLAG_AM_MEDIUM (1u << 1)
#define GEX_FLAG_AM_LONG (1u << 2)
#define GEX_FLAG_AM_MEDLONG (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST (1u << 3)
#define GEX_FLAG_AM_REPLY (1u << 4)
#define GEX_FLAG_AM_REQREP (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)

/* Data types: disjoint non-zero bits. Plugins receive these values. */
typedef uint32_t gex_DT_t;
#define GEX_DT_I32 (1u << 0)
#define GEX_DT_U32 (1u << 1)
#define GEX_DT_I64 (1u << 2)
#define GEX_DT_U64 (1u << 3)
#define GEX_DT_FLT (1u << 4)
#define GEX_DT_DBL (1u << 5)
#define GEX_DT_USER (1u << 6)

/* Operations: disjoint non-zero bits. Plugins receive these values. Clients compare GEX_OP_ADD
 * with its number. */
typedef uint32_t gex_OP_t;
#define GEX_OP_MIN (1u << 0)
#define GEX_OP_SUB (1u << 1)
#define GEX_OP_MULT (1u << 2)
#define GEX_OP_ADD (1u << 3)
#define GEX_OP_MAX (1u << 4)
#define GEX_OP_INC (1u << 5)
#define GEX_OP_DEC (1u << 6)
#define GEX_OP_AND (1u << 7)
#define GEX_OP_OR (1u << 8)
#define GEX_OP_XOR (1u << 9)
#define GEX_OP_FMIN (1u << 10)
#define GEX_OP_FSUB (1u << 11)
#define GEX_OP_FMULT (1u << 12)
#define GEX_OP_FADD (1u << 13)
#define GEX_OP_FMAX (1u << 14)
#define GEX_OP_FINC (1u << 15)
#define GEX_OP_FDEC (1u << 16)
#define GEX_OP_FAND (1u << 17)
#define GEX_OP_FOR (1u << 18)
#define GEX_OP_FXOR (1u << 19)
#define GEX_OP_SET (1u << 20)
#define GEX_OP_CAS (1u << 21)
#define GEX_OP_SWAP (1u << 22)
#define GEX_OP_GET (1u << 23)
#define GEX_OP_FCAS (1u << 24)
#define GEX_OP_USER (1u << 25)
#define GEX_OP_USER_NC (1u << 26)
#define GEX_OP_CSWAP GEX_OP_FCAS
/* A fetching operation is its non-fetching one ten bits up; the two accessor pairs stand apart. */
#define GEX_OP_TO_FETCHING(op)                   \
  ((gex_OP_t)((op) == GEX_OP_SET   ? GEX_OP_SWAP \
              : (op) == GEX_OP_CAS ? GEX_OP_FCAS \
                                   : (gex_OP_t)(op) << 10))
#define GEX_OP_TO_NONFETCHING(op)                \
  ((gex_OP_t)((op) == GEX_OP_SWAP   ? GEX_OP_SET \
              : (op) == GEX_OP_FCAS ? GEX_OP_CAS \
                                    : (gex_OP_t)(op) >> 10))

typedef uint32_t gex_EP_Capabilities_t;
#define GEX_EP_CAPABILITY_RMA (1u << 0)
#define GEX_EP_CAPABILITY_AM (1u << 1)
#define GEX_EP_CAPABILITY_VIS (1u << 2)
#define GEX_EP_CAPABILITY_COLL (1u << 3)
#define GEX_EP_CAPABILITY_AD (1u << 4)
#define GEX_EP_CAPABILITY_ALL 0x1Fu

/* Event categories (gex_NBI_Test/Wait, gex_Event_QueryLeaf). */
typedef uint32_t gex_EC_t;
#define GEX_EC_GET (1u << 0)
#define GEX_EC_PUT (1u << 1)
#define GEX_EC_AM (1u << 2)
#define GEX_EC_LC (1u << 3)
#define GEX_EC_RMW (1u << 4)
#define GEX_EC_ALL 0x1Fu

#endif
