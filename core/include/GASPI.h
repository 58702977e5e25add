/* GASPI.h - GASPI 17.1, for C99 and C++11 or later.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Link with libcauseway_gaspi (pkg-config causeway-gaspi, or its alias GPI2). Every procedure
 * returns GASPI_SUCCESS, GASPI_TIMEOUT where it takes a timeout, GASPI_QUEUE_FULL where it posts
 * to a queue, or an error: GASPI_ERROR, or one of the GASPI_ERR_* that say more. Sources that test
 * for GASPI_SUCCESS, GASPI_TIMEOUT and GASPI_QUEUE_FULL need to know no other.
 *
 * Timeouts are milliseconds. GASPI_TEST does what can be done without waiting; GASPI_BLOCK waits as
 * long as it takes, or until a process that is waited for has failed. A call that returned
 * GASPI_TIMEOUT goes on where it stopped when it is made again with the same arguments.
 *
 * Numbers in comments are those of chapters of the specification. What programs in the field use
 * beyond it is in GASPI_Ext.h, which comes with this header unless GASPI_SPECIFICATION_ONLY is
 * defined: then names such as gaspi_segment_size are the program's. Where the two kinds of source differ in a prototype, both compile:
 * by overloads in C++, by _Generic in C11 and later; in C99 the specification's form is taken, or
 * the field's when GASPI_GPI2_SOURCE is defined before this header is included, as the flags of
 * GPI2.pc do. It also makes gaspi_reduce_operation_t the field's type, of seven arguments: programs
 * cast their operations to it.
 */
#ifndef GASPI_H
#define GASPI_H

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GASPI_MAJOR_VERSION 17
#define GASPI_MINOR_VERSION 1

/* ---- 4.1: types ---------------------------------------------------------------------------- */

typedef char gaspi_char;
typedef unsigned char gaspi_uchar;
typedef short gaspi_short;
typedef unsigned short gaspi_ushort;
typedef int gaspi_int;
typedef unsigned int gaspi_uint;
typedef long gaspi_long;
typedef unsigned long gaspi_ulong;
typedef float gaspi_float;
typedef double gaspi_double;

typedef unsigned short gaspi_rank_t; /* a job has at most 65,535 processes */
typedef unsigned char gaspi_group_t;
typedef unsigned char gaspi_queue_id_t;
typedef unsigned char gaspi_segment_id_t;
typedef unsigned int gaspi_number_t;
typedef unsigned int gaspi_notification_id_t;
typedef unsigned int gaspi_notification_t;
typedef unsigned int gaspi_statistic_counter_t;
typedef unsigned long gaspi_size_t;
typedef unsigned long gaspi_offset_t;
typedef unsigned long gaspi_atomic_value_t;
typedef unsigned long gaspi_timeout_t; /* milliseconds */
typedef unsigned long gaspi_cycles_t;
typedef unsigned long gaspi_alloc_t;
typedef double gaspi_time_t; /* milliseconds */
typedef int gaspi_memory_description_t;
typedef void* gaspi_pointer_t;
typedef const void* gaspi_const_pointer_t;
typedef void* gaspi_reduce_state_t;
typedef char* gaspi_string_t;

/* 3.11 and 4.2.2. Values beyond GASPI_TIMEOUT are this interface's own, and name a cause. */
typedef enum {
  GASPI_ERROR = -1,
  GASPI_SUCCESS = 0,
  GASPI_TIMEOUT = 1,
  GASPI_ERR_EMFILE = 2,        /* too many open files */
  GASPI_ERR_ENV = 3,           /* the environment says something that cannot be */
  GASPI_ERR_SN_PORT = 4,       /* a port of the start-up network; not used here */
  GASPI_ERR_CONFIG = 5,        /* the configuration cannot be used */
  GASPI_ERR_NOINIT = 6,        /* gaspi_proc_init() has not succeeded, or gaspi_proc_term() has */
  GASPI_ERR_INITED = 7,        /* it has succeeded already */
  GASPI_ERR_NULLPTR = 8,       /* a pointer is NULL */
  GASPI_ERR_INV_SEGSIZE = 9,   /* a segment of no bytes, or more than can be had */
  GASPI_ERR_INV_SEG = 10,      /* no such segment, or it exists already, or is not registered */
  GASPI_ERR_INV_GROUP = 11,    /* no such group, or not committed, or not a member */
  GASPI_ERR_INV_RANK = 12,     /* no such rank */
  GASPI_ERR_INV_QUEUE = 13,    /* no such queue */
  GASPI_ERR_INV_LOC_OFF = 14,  /* the range leaves the local segment */
  GASPI_ERR_INV_REM_OFF = 15,  /* the range leaves the remote segment */
  GASPI_ERR_INV_COMMSIZE = 16, /* more bytes than one transfer may have */
  GASPI_ERR_INV_NOTIF_VAL = 17, /* a notification of value 0 */
  GASPI_ERR_INV_NOTIF_ID = 18,  /* no such notification */
  GASPI_ERR_INV_NUM = 19,       /* more elements than allowed, or none */
  GASPI_ERR_INV_SIZE = 20,      /* a size that does not fit */
  GASPI_ERR_MANY_SEG = 21,      /* segment_max segments exist */
  GASPI_ERR_MANY_GRP = 22,      /* group_max groups exist */
  GASPI_QUEUE_FULL = 23,
  GASPI_ERR_UNALIGN_OFF = 24,  /* an atomic value that is not aligned to its size */
  GASPI_ERR_ACTIVE_COLL = 25,  /* the group has an unfinished collective of the kind */
  GASPI_ERR_DEVICE = 26,       /* a device failed */
  GASPI_ERR_SN = 27,           /* the start-up network failed */
  GASPI_ERR_MEMALLOC = 28      /* memory cannot be had */
} gaspi_return_t;
#define GASPI_ERR_QUEUE_FULL GASPI_QUEUE_FULL
typedef gaspi_return_t* gaspi_returns_t; /* one per process */

/* 4.2.3 */
typedef enum { GASPI_STATE_HEALTHY = 0, GASPI_STATE_CORRUPT = 1 } gaspi_state_t;
typedef gaspi_state_t* gaspi_state_vector_t; /* the caller's memory, one entry per process */

/* 4.2.1 */
#define GASPI_BLOCK ((gaspi_timeout_t)ULONG_MAX)
#define GASPI_TEST ((gaspi_timeout_t)0)

/* 7.2: what gaspi_segment_bind() and gaspi_segment_use() are given. Memory of a device is the
   caller's, allocated through the device's own interface. */
#define GASPI_MEMORY_HOST ((gaspi_memory_description_t)0)
#define GASPI_MEMORY_CUDA(device) ((gaspi_memory_description_t)(0x10000 | (device)))
#define GASPI_MEMORY_HIP(device) ((gaspi_memory_description_t)(0x20000 | (device)))

/* 4.2.4. GASPI_MEM_INITIALIZED: the segment's bytes are zero. */
#define GASPI_ALLOC_DEFAULT ((gaspi_alloc_t)0)
#define GASPI_MEM_UNINITIALIZED ((gaspi_alloc_t)0)
#define GASPI_MEM_INITIALIZED ((gaspi_alloc_t)1)

/* 6.2.2: all processes. */
#define GASPI_GROUP_ALL ((gaspi_group_t)0)

/* A wish for a network, in gaspi_config_t. The configuration of Causeway chooses. */
typedef enum { GASPI_IB = 0, GASPI_ROCE = 1, GASPI_ETHERNET = 2, GASPI_OFI = 5 } gaspi_network_t;

/* Values of gaspi_config_t's build_infrastructure; 17.1's false and true are the first two. */
typedef enum {
  GASPI_TOPOLOGY_NONE = 0,   /* connections are made by calls and by the first use */
  GASPI_TOPOLOGY_STATIC = 1, /* gaspi_proc_init() connects all with all, GASPI_GROUP_ALL is
                                committed */
  GASPI_TOPOLOGY_DYNAMIC = 2 /* by the first use; GASPI_GROUP_ALL is committed */
} gaspi_topology_t;

/* 11.3.2 and 11.3.3 */
typedef enum { GASPI_OP_MIN = 0, GASPI_OP_MAX = 1, GASPI_OP_SUM = 2 } gaspi_operation_t;
typedef enum {
  GASPI_TYPE_INT = 0,
  GASPI_TYPE_UINT = 1,
  GASPI_TYPE_FLOAT = 2,
  GASPI_TYPE_DOUBLE = 3,
  GASPI_TYPE_LONG = 4,
  GASPI_TYPE_ULONG = 5
} gaspi_datatype_t;

/* 14.1.2: what the argument of a statistic counter means. */
typedef enum {
  GASPI_STATISTIC_ARGUMENT_NONE = 0, /* nothing; it is ignored */
  GASPI_STATISTIC_ARGUMENT_RANK = 1  /* a rank */
} gaspi_statistic_argument_t;

/* 11.4.2: combines two operands into `result`, which is neither of them. `state` is the pointer that
 * the call was given, `timeout` what was left of its time. The operation must be commutative and
 * associative; GASPI_TIMEOUT lets the collective return, and the operation is repeated by the next
 * call.
 *
 * In 17.1 for C an operation combines one element per call. In the field, and in 17.1 for Fortran,
 * it gets the number of elements and their size, and combines all. */
typedef gaspi_return_t gaspi_reduce_operation(gaspi_const_pointer_t operand_one,
                                              gaspi_const_pointer_t operand_two,
                                              gaspi_pointer_t result, gaspi_reduce_state_t state,
                                              gaspi_timeout_t timeout);
typedef gaspi_return_t gaspi_reduce_operation_counted(
    gaspi_const_pointer_t operand_one, gaspi_const_pointer_t operand_two, gaspi_pointer_t result,
    gaspi_reduce_state_t state, gaspi_number_t num, gaspi_size_t element_size,
    gaspi_timeout_t timeout);
typedef gaspi_reduce_operation_counted* gaspi_reduce_operation_counted_t;
#ifdef GASPI_GPI2_SOURCE
typedef gaspi_reduce_operation_counted* gaspi_reduce_operation_t;
#else
typedef gaspi_reduce_operation* gaspi_reduce_operation_t;
#endif

/* 5.2.1: wishes, read by gaspi_proc_init(). Too large ones are cut to what can be; the getters of
 * chapter 12 tell what came of them. Values must be the same on all processes. */
typedef struct {
  gaspi_network_t network; /* no more than a wish */
  void* params;            /* ignored */
} gaspi_dev_config_t;

typedef struct {
  gaspi_number_t group_max;               /* groups per process; 32, at most 255 */
  gaspi_number_t segment_max;             /* segments per process; 255, at most 255 */
  gaspi_number_t queue_num;               /* queues made at start; 8, at most 16 */
  gaspi_number_t queue_size_max;          /* requests per queue; 1024, at most 65,536 */
  gaspi_size_t transfer_size_max;         /* bytes of one request; 2^30, at most 2^40 */
  gaspi_number_t notification_num;        /* per segment; 65,536, at most 2^20 */
  gaspi_number_t passive_queue_size_max;  /* sends under way; 1024, at most 65,536 */
  gaspi_size_t passive_transfer_size_max; /* bytes; 65,535, at most 2^24 */
  gaspi_size_t allreduce_buf_size;        /* bytes; 2,040, at most 2^32 - 1 */
  gaspi_number_t allreduce_elem_max;      /* elements; 255, at most 2^29 - 1 */
  gaspi_network_t network;                /* a wish; gaspi_network_type() tells the choice */
  gaspi_number_t build_infrastructure;    /* gaspi_topology_t; GASPI_TOPOLOGY_STATIC */
  void* user_defined;                     /* the program's */

  /* beyond 17.1 */
  gaspi_number_t rw_list_elem_max; /* elements of a list; 255, at most 65,536 */
  gaspi_number_t logger;           /* this and the rest: accepted and ignored */
  gaspi_number_t sn_port;
  gaspi_number_t net_info;
  gaspi_number_t user_net;
  gaspi_number_t sn_persistent;
  gaspi_timeout_t sn_timeout;
  gaspi_dev_config_t dev_config;
} gaspi_config_t;

/* ---- 5: processes -------------------------------------------------------------------------- */

/* 5.2.2, 5.2.3. Before gaspi_proc_init(): the wishes in force, defaults at first. */
gaspi_return_t gaspi_config_get(gaspi_config_t* config);
/* GASPI_ERR_INITED after gaspi_proc_init() has begun. */
gaspi_return_t gaspi_config_set(gaspi_config_t new_config);

/* 5.3.1. Joins the job that a launcher started (`causeway run`, srun --mpi=pmix, mpirun), or that
 * CAUSEWAY_RANKS asks for, or alone. All processes call it, and in the same order with the starts
 * of other clients of the library. May be used beside GASNet-EX and GASNet-1 in one process. With
 * CAUSEWAY_RANKS it must be called before the process has a second thread. With GASPI_BIND=socket in
 * the environment it binds the calling thread, and those it makes later, to a socket of the host;
 * another value than that, "none" or nothing is GASPI_ERR_ENV. */
gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout);
/* 5.3.4. Waits for the other healthy processes, for `timeouts.exit` (5 s) at most where one is not;
 * then frees everything; final: the process cannot be initialised again. */
gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout);
gaspi_return_t gaspi_proc_num(gaspi_rank_t* proc_num);
gaspi_return_t gaspi_proc_rank(gaspi_rank_t* rank);
/* 5.3.5. Raises SIGINT in the other process; success when it has ended, or has begun to shut down
 * in answer (listing 9). Not oneself. */
gaspi_return_t gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout);

/* 5.4. A connection is made by the first use too; after gaspi_disconnect(), by either side, only by
 * gaspi_connect(). Until then calls that need it return GASPI_ERROR. */
gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t timeout);
gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout);

/* 5.5.2: the state of every process as this one knows it. */
gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t* state_vector);

/* ---- 6: groups ----------------------------------------------------------------------------- */

gaspi_return_t gaspi_group_create(gaspi_group_t* group);
gaspi_return_t gaspi_group_add(gaspi_group_t group, gaspi_rank_t rank);
gaspi_return_t gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout);
gaspi_return_t gaspi_group_delete(gaspi_group_t group);
gaspi_return_t gaspi_group_num(gaspi_number_t* group_num);
gaspi_return_t gaspi_group_size(gaspi_group_t group, gaspi_number_t* group_size);
gaspi_return_t gaspi_group_ranks(gaspi_group_t group, gaspi_rank_t* group_ranks);

/* ---- 7: segments --------------------------------------------------------------------------- */

gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t segment_id, gaspi_size_t size,
                                   gaspi_alloc_t alloc_policy);
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t segment_id, gaspi_rank_t rank,
                                      gaspi_timeout_t timeout);
/* 7.2.3. What fails in one member, for want of memory or because the id is in use, fails in all. */
gaspi_return_t gaspi_segment_create(gaspi_segment_id_t segment_id, gaspi_size_t size,
                                    gaspi_group_t group, gaspi_timeout_t timeout,
                                    gaspi_alloc_t alloc_policy);
/* 7.2.4. The memory stays the caller's and must outlive the segment; any alignment. Neighbors reach
 * it by messages, because it is not shared; memory that gaspi_segment_alloc() makes is. The
 * description is 0: memory of the host. */
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer,
                                  gaspi_size_t size,
                                  gaspi_memory_description_t memory_description);
gaspi_return_t gaspi_segment_use(gaspi_segment_id_t segment_id, gaspi_pointer_t pointer,
                                 gaspi_size_t size, gaspi_group_t group, gaspi_timeout_t timeout,
                                 gaspi_memory_description_t memory_description);
gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t segment_id);
gaspi_return_t gaspi_segment_num(gaspi_number_t* segment_num);
gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_list);
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment_id, gaspi_pointer_t* pointer);

/* ---- 8: one-sided communication ------------------------------------------------------------ */

/* Any thread. Each call is one request of its queue, a list as many as it has elements. A
 * notification posted after requests to the same rank on the same queue arrives after their data.
 * To a rank that has failed requests are posted too, and the queue's gaspi_wait() is GASPI_ERROR until
 * gaspi_queue_purge(). */
gaspi_return_t gaspi_write(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                           gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                           gaspi_offset_t offset_remote, gaspi_size_t size, gaspi_queue_id_t queue,
                           gaspi_timeout_t timeout);
gaspi_return_t gaspi_read(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                          gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                          gaspi_offset_t offset_remote, gaspi_size_t size, gaspi_queue_id_t queue,
                          gaspi_timeout_t timeout);
/* 8.2.3. When it succeeds, data written is at the target, and data read is here. */
gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout);
gaspi_return_t gaspi_notify(gaspi_segment_id_t segment_id, gaspi_rank_t rank,
                            gaspi_notification_id_t notification_id,
                            gaspi_notification_t notification_value, gaspi_queue_id_t queue,
                            gaspi_timeout_t timeout);
/* Nobody can tell which rank is to notify. Where one has failed and no notification is there, a call
 * that waits is GASPI_ERROR: once for a thread, and not when another call has told it, nor when the
 * program has looked at the state vector since. */
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t segment_id,
                                     gaspi_notification_id_t notific_begin,
                                     gaspi_number_t notification_num,
                                     gaspi_notification_id_t* first_id, gaspi_timeout_t timeout);
/* `old_notification_val` may be NULL. */
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment_id,
                                  gaspi_notification_id_t notification_id,
                                  gaspi_notification_t* old_notification_val);
gaspi_return_t gaspi_write_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                  gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                                  gaspi_offset_t offset_remote, gaspi_size_t size,
                                  gaspi_notification_id_t notification_id,
                                  gaspi_notification_t notification_value, gaspi_queue_id_t queue,
                                  gaspi_timeout_t timeout);
gaspi_return_t gaspi_write_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                                gaspi_offset_t* offset_local, gaspi_rank_t rank,
                                gaspi_segment_id_t* segment_id_remote,
                                gaspi_offset_t* offset_remote, gaspi_size_t* size,
                                gaspi_queue_id_t queue, gaspi_timeout_t timeout);
gaspi_return_t gaspi_write_list_notify(
    gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
    gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
    gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
    gaspi_notification_id_t notification_id, gaspi_notification_t notification_value,
    gaspi_queue_id_t queue, gaspi_timeout_t timeout);
/* The notification of a read is one of the local segment that is read into, of value 1. */
gaspi_return_t gaspi_read_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                 gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                                 gaspi_offset_t offset_remote, gaspi_size_t size,
                                 gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                 gaspi_timeout_t timeout);
gaspi_return_t gaspi_read_list(gaspi_number_t num, gaspi_segment_id_t* segment_id_local,
                               gaspi_offset_t* offset_local, gaspi_rank_t rank,
                               gaspi_segment_id_t* segment_id_remote,
                               gaspi_offset_t* offset_remote, gaspi_size_t* size,
                               gaspi_queue_id_t queue, gaspi_timeout_t timeout);
gaspi_return_t gaspi_read_list_notify(
    gaspi_number_t num, gaspi_segment_id_t* segment_id_local, gaspi_offset_t* offset_local,
    gaspi_rank_t rank, gaspi_segment_id_t* segment_id_remote, gaspi_offset_t* offset_remote,
    gaspi_size_t* size, gaspi_segment_id_t segment_id_notification,
    gaspi_notification_id_t notification_id, gaspi_queue_id_t queue, gaspi_timeout_t timeout);

gaspi_return_t gaspi_queue_create(gaspi_queue_id_t* queue, gaspi_timeout_t timeout);
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue);
gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t* queue_size);
gaspi_return_t gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout);

/* ---- 9: passive communication -------------------------------------------------------------- */

/* Success when the receiver has taken the data. */
gaspi_return_t gaspi_passive_send(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                  gaspi_rank_t rank, gaspi_size_t size, gaspi_timeout_t timeout);
/* Sleeps while it waits. `size` is the room there is: a shorter message leaves the rest as it was,
 * a longer one stays queued and the call returns GASPI_ERR_INV_SIZE. */
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t segment_id_local,
                                     gaspi_offset_t offset_local, gaspi_rank_t* rem_rank,
                                     gaspi_size_t size, gaspi_timeout_t timeout);
gaspi_return_t gaspi_passive_queue_purge(gaspi_timeout_t timeout);

/* ---- 10: global atomics -------------------------------------------------------------------- */

/* The value is aligned to its size. Mixes with gex_AD_* operations of a domain over all ranks for
 * GEX_DT_U64 or GEX_DT_I64 on the same memory. */
gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t segment_id, gaspi_offset_t offset,
                                      gaspi_rank_t rank, gaspi_atomic_value_t value_add,
                                      gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout);
gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t segment_id, gaspi_offset_t offset,
                                         gaspi_rank_t rank, gaspi_atomic_value_t comparator,
                                         gaspi_atomic_value_t value_new,
                                         gaspi_atomic_value_t* value_old, gaspi_timeout_t timeout);

/* ---- 11: collective communication ---------------------------------------------------------- */

gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout);
/* All members get the same bits. GASPI_ERR_ACTIVE_COLL: a reduction of another size has timed out
 * in the group, and is to be completed first. */
gaspi_return_t gaspi_allreduce(gaspi_const_pointer_t buffer_send, gaspi_pointer_t buffer_receive,
                               gaspi_number_t num, gaspi_operation_t operation,
                               gaspi_datatype_t datatype, gaspi_group_t group,
                               gaspi_timeout_t timeout);
gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t buffer_send,
                                    gaspi_pointer_t buffer_receive, gaspi_number_t num,
                                    gaspi_size_t size_element,
                                    gaspi_reduce_operation* reduce_operation,
                                    gaspi_reduce_state_t reduce_state, gaspi_group_t group,
                                    gaspi_timeout_t timeout);
/* The same with an operation of the field's kind. */
gaspi_return_t gaspi_allreduce_user_counted(gaspi_const_pointer_t buffer_send,
                                            gaspi_pointer_t buffer_receive, gaspi_number_t num,
                                            gaspi_size_t size_element,
                                            gaspi_reduce_operation_counted_t reduce_operation,
                                            gaspi_reduce_state_t reduce_state, gaspi_group_t group,
                                            gaspi_timeout_t timeout);

/* ---- 12: getters ---------------------------------------------------------------------------- */

gaspi_return_t gaspi_group_max(gaspi_number_t* group_max);
gaspi_return_t gaspi_segment_max(gaspi_number_t* segment_max);
gaspi_return_t gaspi_queue_num(gaspi_number_t* queue_num);
gaspi_return_t gaspi_queue_size_max(gaspi_number_t* queue_size_max);
gaspi_return_t gaspi_queue_max(gaspi_number_t* queue_max);
gaspi_return_t gaspi_transfer_size_max(gaspi_size_t* transfer_size_max);
gaspi_return_t gaspi_notification_num(gaspi_number_t* notification_num);
gaspi_return_t gaspi_passive_transfer_size_max(gaspi_size_t* transfer_size_max);
gaspi_return_t gaspi_atomic_max(gaspi_atomic_value_t* max_value);
gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t* buf_size);
gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t* elem_max);
gaspi_return_t gaspi_network_type(gaspi_network_t* network_type);
gaspi_return_t gaspi_build_infrastructure(gaspi_number_t* build_infrastructure);

/* ---- 13: environment ------------------------------------------------------------------------ */

gaspi_return_t gaspi_version(float* version);
gaspi_return_t gaspi_time_get(gaspi_time_t* wtime);
gaspi_return_t gaspi_time_ticks(gaspi_time_t* resolution);
/* The text is constant and the library's. gaspi_error_message is the name that listing 18 uses. */
gaspi_return_t gaspi_print_error(gaspi_return_t error_code, gaspi_string_t* error_message);
gaspi_return_t gaspi_error_message(gaspi_return_t error_code, gaspi_string_t* error_message);

/* ---- 14: profiling -------------------------------------------------------------------------- */

/* Counters need a verbosity level of at least 1; 0, the default, costs nothing. The calls are of
 * any phase; counters outlive gaspi_proc_term(). PGASPI.h declares every procedure with the prefix
 * pgaspi_; the names here are weak and may be defined over them. */
gaspi_return_t gaspi_statistic_counter_max(gaspi_statistic_counter_t* counter_max);
gaspi_return_t gaspi_statistic_counter_info(gaspi_statistic_counter_t counter,
                                            gaspi_statistic_argument_t* counter_argument,
                                            gaspi_string_t* counter_name,
                                            gaspi_string_t* counter_description,
                                            gaspi_number_t* verbosity_level);
gaspi_return_t gaspi_statistic_verbosity_level(gaspi_number_t verbosity_level);
gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t counter,
                                           gaspi_statistic_argument_t argument,
                                           gaspi_number_t* value);
gaspi_return_t gaspi_statistic_counter_reset(gaspi_statistic_counter_t counter);
gaspi_return_t gaspi_pcontrol(gaspi_pointer_t argument);

/* ---- the field's forms of procedures above; reached by the same names, see the top ---------- */

gaspi_return_t gaspi_state_vec_get_array(gaspi_state_vector_t state_vector);
gaspi_return_t gaspi_time_ticks_cycles(gaspi_cycles_t* ticks);
gaspi_return_t gaspi_statistic_counter_get_long(gaspi_statistic_counter_t counter,
                                                gaspi_statistic_argument_t argument,
                                                unsigned long* value);

#ifdef __cplusplus
} /* extern "C" */

/* Programs include this header inside of extern "C". */
extern "C++" {
inline gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t state_vector) {
  return gaspi_state_vec_get_array(state_vector);
}
inline gaspi_return_t gaspi_time_ticks(gaspi_cycles_t* ticks) {
  return gaspi_time_ticks_cycles(ticks);
}
inline gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t counter,
                                                  gaspi_statistic_argument_t argument,
                                                  unsigned long* value) {
  return gaspi_statistic_counter_get_long(counter, argument, value);
}
inline gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t buffer_send,
                                           gaspi_pointer_t buffer_receive, gaspi_number_t num,
                                           gaspi_size_t size_element,
                                           gaspi_reduce_operation_counted_t reduce_operation,
                                           gaspi_reduce_state_t reduce_state, gaspi_group_t group,
                                           gaspi_timeout_t timeout) {
  return gaspi_allreduce_user_counted(buffer_send, buffer_receive, num, size_element,
                                      reduce_operation, reduce_state, group, timeout);
}
/* Listings 11 and 12 pass the address of a pointer to what the segment holds. */
template <typename T>
inline gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment_id, T** pointer) {
  gaspi_pointer_t base = 0;
  const gaspi_return_t result = gaspi_segment_ptr(segment_id, &base);
  if (result == GASPI_SUCCESS) *pointer = static_cast<T*>(base);
  return result;
}
} /* extern "C++" */

#else /* C: macros of the procedures' names, because C has no overloads. They may be undefined. */

#define gaspi_segment_ptr(segment_id, pointer) \
  gaspi_segment_ptr((segment_id), (gaspi_pointer_t*)(void*)(pointer))
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define gaspi_state_vec_get(state_vector)                                              \
  _Generic((state_vector), gaspi_state_vector_t                                        \
           : gaspi_state_vec_get_array, default                                        \
           : gaspi_state_vec_get)(state_vector)
#define gaspi_time_ticks(ticks)                                                        \
  _Generic((ticks), gaspi_cycles_t * : gaspi_time_ticks_cycles, default                \
           : gaspi_time_ticks)(ticks)
#define gaspi_statistic_counter_get(counter, argument, value)                          \
  _Generic((value), unsigned long* : gaspi_statistic_counter_get_long, default         \
           : gaspi_statistic_counter_get)((counter), (argument), (value))
#ifdef GASPI_GPI2_SOURCE
#define gaspi_allreduce_user(send, receive, num, size, operation, state, group, timeout) \
  _Generic((operation), gaspi_reduce_operation*                                        \
           : gaspi_allreduce_user, default                                             \
           : gaspi_allreduce_user_counted)((send), (receive), (num), (size), (operation), \
                                           (state), (group), (timeout))
#else
#define gaspi_allreduce_user(send, receive, num, size, operation, state, group, timeout) \
  _Generic((operation), gaspi_reduce_operation_counted_t                               \
           : gaspi_allreduce_user_counted, default                                     \
           : gaspi_allreduce_user)((send), (receive), (num), (size), (operation), (state), \
                                   (group), (timeout))
#endif
#elif defined(GASPI_GPI2_SOURCE)
#define gaspi_state_vec_get(state_vector) gaspi_state_vec_get_array(state_vector)
#define gaspi_time_ticks(ticks) gaspi_time_ticks_cycles(ticks)
#define gaspi_statistic_counter_get(counter, argument, value) \
  gaspi_statistic_counter_get_long((counter), (argument), (value))
#define gaspi_allreduce_user gaspi_allreduce_user_counted
#endif

#endif /* __cplusplus */

#ifndef GASPI_SPECIFICATION_ONLY
#include <GASPI_Ext.h>
#endif

#endif /* GASPI_H */
