/* causeway/collective.h - the interface of a collective-algorithm plugin, version 2.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective plugin lists algorithms (*candidates*), each for one operation and a range of
 * sizes and of team sizes. The core picks one per call as a pure function of facts
 * that all members of the team share, and drives it as a state machine: start() then step()
 * until it answers CWY_OK. A state machine never blocks, never polls and reaches its team only
 * through `cwyl_team_services`. Normative text: causeway-collective(7).
 */
#ifndef CAUSEWAY_COLLECTIVE_H
#define CAUSEWAY_COLLECTIVE_H

#include <causeway/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t cwyl_operation;
enum { CWYL_BARRIER = 0, CWYL_BROADCAST = 1, CWYL_REDUCE_ONE = 2, CWYL_REDUCE_ALL = 3 };
/* How many there are in this minor. */
#define CWYL_OPERATIONS UINT32_C(4)

/* Order in which operands may be combined. */
enum {
  CWYL_NEED_ORDER = 1u << 0 /* the operator does not commute: rank order must be kept */
};

typedef struct cwyl_team cwyl_team; /* the core's; argument of every team service */

/* Facts about a team, equal on all members except those marked (own). Constant for its life. */
typedef struct cwyl_team_info {
  cwy_head head;
  uint32_t size;
  uint32_t rank;               /* (own) */
  uint32_t nbrhd_count;        /* neighborhoods the team spans */
  uint32_t nbrhd_index;        /* (own) this member's, numbered by their lowest team rank */
  const uint32_t* nbrhd_of;    /* per team rank: its neighborhood's index */
  uint32_t nbrhd_size;         /* (own) members in this member's neighborhood */
  uint32_t nbrhd_rank;         /* (own) position among them, by team rank */
  const uint32_t* nbrhd_ranks; /* (own) their team ranks, increasing */
  uint32_t host_count;
  uint32_t reserved;
  uint64_t scratch_bytes;  /* of scratch per member: the smallest over the members */
  uint64_t signals;        /* signal slots per operation, at least 64 */
  uint64_t put_max;        /* most bytes of one put_signal, equal on all members, at least 512 */
  const uint32_t* host_of; /* per team rank: index of its host, numbered like neighborhoods */
  uint32_t posts;          /* posts per run, at least 4; 0: this team has none */
  uint32_t post_max;       /* most bytes of one post, at least 120 */
  const uint32_t*
      domain_of;         /* per team rank: its memory domain's index, numbered like neighborhoods */
  uint32_t domain_count; /* memory domains (NUMA nodes); nbrhd_count where members' are not known */
  uint32_t domain_most;  /* members of the largest */
  uint64_t region_put_max; /* most bytes of one put_region_signal, equal on all members, at least
                              512 */
} cwyl_team_info;

/* Names memory of one member that others of the team may write during an operation. */
typedef struct cwyl_region {
  uint64_t token[4]; /* opaque; may be sent to other members inside put payloads */
} cwyl_region;

/* One run of one collective operation; the key that separates overlapping runs on a team. */
typedef uint64_t cwyl_seq;

/* What a state machine may call. All calls return at once. A CWY_RETRY is not an error: return
 * CWY_INPROGRESS from step() and try again at the next one. Threads: one at a time per run. */
typedef struct cwyl_team_services {
  cwy_head head;
  const cwyl_team_info* (*info)(cwyl_team* team);

  /* Copies `length` bytes, at most info->put_max, into `rank`'s scratch at `offset` of this run's
   * share, then raises that member's signal slot `signal` of this run by one. The source is free
   * on return of CWY_OK. length 0 only signals. */
  cwy_status (*put_signal)(cwyl_team* team, cwyl_seq seq, uint32_t rank, const void* src,
                           uint64_t length, uint64_t offset, uint32_t signal);
  /* Current value of one of this run's signal slots of this member: how often it was raised
   * since the run began anywhere. Acquire: data put with the signal is visible. */
  uint64_t (*signal)(cwyl_team* team, cwyl_seq seq, uint32_t signal);
  /* This run's share of this member's scratch; *length receives its size, equal on all. */
  void* (*scratch)(cwyl_team* team, cwyl_seq seq, uint64_t* length);

  /* Makes a buffer of this member's reachable for the run. CWY_ERR_UNSUPPORTED where the memory
   * cannot be reached by the others; use scratch then. Released when the run ends. */
  cwy_status (*expose)(cwyl_team* team, cwyl_seq seq, void* addr, uint64_t length,
                       cwyl_region* out);
  /* A load/store pointer to a region of `rank` at `offset`, or NULL if it is not mapped here. */
  void* (*direct)(cwyl_team* team, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                  uint64_t offset);
  /* Put into / get from a region of `rank`. `*done` is set (release) to 1 when complete, to 2 when
   * it failed; the run then ends with an error. It may be set before the call returns. */
  cwy_status (*put_region)(cwyl_team* team, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                           uint64_t offset, const void* src, uint64_t length, uint32_t* done);
  cwy_status (*get_region)(cwyl_team* team, cwyl_seq seq, uint32_t rank, const cwyl_region* region,
                           uint64_t offset, void* dst, uint64_t length, uint32_t* done);

  /* inout[i] = left[i] (op) inout[i], with the run's data type and operation, user-defined ones
   * included. Ranges do not overlap. */
  void (*reduce)(cwyl_team* team, cwyl_seq seq, const void* left, void* inout, uint64_t count);
  /* memcpy, between memory that the run has: buffers of a run are host memory. */
  void (*copy)(cwyl_team* team, cwyl_seq seq, void* dst, const void* src, uint64_t length);

  /* out[i] = left[i] (op) right[i]. `out` may be `left` or `right`; no other overlap. `right` is
   * not written unless it is `out`. */
  void (*reduce_into)(cwyl_team* team, cwyl_seq seq, const void* left, const void* right, void* out,
                      uint64_t count);
  /* Host memory of this member for the rest of the run, cache-line aligned, contents undefined;
   * NULL when there is none. Released by the core when the run ends. */
  void* (*memory)(cwyl_team* team, cwyl_seq seq, uint64_t length);

  /* Shows `length` bytes, at most info->post_max, to every other member of this member's
   * neighborhood, as its post `which` of this run (below info->posts; each once per run). */
  cwy_status (*post)(cwyl_team* team, cwyl_seq seq, uint32_t which, const void* src,
                     uint64_t length);
  /* Copies the first `length` bytes of what that neighbor posted. CWY_INPROGRESS: it has not yet.
   * Acquire: what it wrote before it posted is visible. */
  cwy_status (*posted)(cwyl_team* team, cwyl_seq seq, uint32_t rank, uint32_t which, void* dst,
                       uint64_t length);

  /* Puts at most info->region_put_max bytes into a region of `rank`, and raises that
   * member's signal slot `signal` of this run by one when they are there: acquire by `signal()`.
   * `*done` is set (release) to 1 when the source is free, to 2 when the put failed; it may be set
   * before the call returns, also with CWY_RETRY. length 0 only signals. */
  cwy_status (*put_region_signal)(cwyl_team* team, cwyl_seq seq, uint32_t rank,
                                  const cwyl_region* region, uint64_t offset, const void* src,
                                  uint64_t length, uint32_t signal, uint32_t* done);
} cwyl_team_services;

/* The arguments of one run. */
typedef struct cwyl_args {
  cwy_head head;
  uint32_t operation; /* cwyl_operation */
  uint32_t flags;     /* CWYL_NEED_ORDER */
  uint32_t root;      /* broadcast, reduce to one */
  uint32_t dt;        /* CWY_DT_*; 0 where there is none */
  uint32_t opcode;    /* CWY_OP_*; 0 where there is none */
  uint32_t reserved;
  uint64_t element_bytes;
  uint64_t count; /* elements (broadcast: bytes, with element_bytes 1) */
  void* dst;
  const void* src;
} cwyl_args;

/* What selection sees of a call: team-uniform facts only. */
typedef struct cwyl_shape {
  cwy_head head;
  uint32_t operation;
  uint32_t flags;
  uint32_t team_size;
  uint32_t nbrhd_count;
  uint32_t dt;
  uint32_t opcode;
  uint64_t bytes; /* element_bytes * count */
  uint64_t scratch_bytes;
  uint64_t element_bytes;
  uint32_t host_count;
  uint32_t nbrhd_most; /* members of the largest neighborhood */
  uint32_t domain_count;
  uint32_t domain_most;
} cwyl_shape;

/* One algorithm for one operation. */
typedef struct cwyl_candidate {
  cwy_head head;
  const char* name; /* unique within plugin and operation: [a-z0-9_]+ */
  uint32_t operation;
  uint32_t keeps_order;          /* 1: may serve CWYL_NEED_ORDER */
  uint64_t min_bytes, max_bytes; /* inclusive */
  uint32_t min_team, max_team;   /* inclusive */
  uint32_t state_bytes; /* of state the core allocates per run, cache-line aligned, zeroed */
  uint32_t reserved;

  /* Pure: depends on `shape` only. Larger is better; negative refuses. Orders only candidates
   * that the configuration leaves open. */
  int32_t (*score)(const cwyl_shape* shape);
  /* Begins a run. CWY_OK: already complete. CWY_INPROGRESS: step() follows. */
  cwy_status (*start)(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                      const cwyl_args* args, void* state);
  /* Goes on as far as it can. CWY_OK: complete on this member. Any error ends the run. */
  cwy_status (*step)(cwyl_team* team, const cwyl_team_services* services, cwyl_seq seq,
                     const cwyl_args* args, void* state);
} cwyl_candidate;

typedef struct cwyl_module {
  cwy_head head;
  uint32_t min_core_minor;
  uint32_t candidate_count;
  const cwyl_candidate* const* candidates;
  uint64_t flags; /* none defined; 0 */
  void (*fini)(void);
} cwyl_module;

typedef cwy_status (*cwy_collective_init_fn)(const cwy_services* services,
                                             const cwyl_module** module, cwy_err* err);
#define CWY_COLLECTIVE_INIT cwy_collective_init_v2
#define CWY_COLLECTIVE_INIT_NAME "cwy_collective_init_v2"

#ifdef __cplusplus
}
#endif
#endif
