/* causeway/conduit.h - the interface of a conduit plugin, version 2.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A conduit moves bytes and active messages between this process and others. It opens *domains* (a
 * device, with its registrations), creates *endpoints* in them, and holds one *connection* per
 * (endpoint, peer). Hot operations come in a flat table per connection class; a member left NULL is
 * emulated by the core over active messages, or answered by a stub that reports, so the smallest
 * useful conduit offers am_short, am_medium and progress only.
 *
 * Rules that hold for every hot operation (normative text: causeway-conduit(7)):
 *  - it never blocks, and calls back into the core only to report operations that are pending (its
 *    own or earlier ones), through services and, in am_* to oneself, the deliver upcall;
 *  - CWY_OK: complete in every sense, the cwyc_op is not used (nor its memory retained);
 *  - CWY_INPROGRESS: op->fn reports every bit of CWYC_DONE_* that the operation has exactly once, from
 *    inside progress() of the endpoint, from a later posting call on it, or from this call itself;
 *    op is NULL only where an operation cannot answer this: for messages with SRC_VOLATILE;
 *  - CWY_RETRY: nothing was posted, op is untouched;
 *  - any other value: nothing was posted and nothing will be.
 */
#ifndef CAUSEWAY_CONDUIT_H
#define CAUSEWAY_CONDUIT_H

#include <causeway/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CWYC_AM_MAX_ARGS 16

/* The conduit's own objects: opaque to the core. */
typedef struct cwyc_domain cwyc_domain;
typedef struct cwyc_ep cwyc_ep;
typedef struct cwyc_mem cwyc_mem;   /* a local registration */
typedef struct cwyc_rkey cwyc_rkey; /* an opened right to a peer's registration */

/* ---- completion --------------------------------------------------------------------------- */

enum {
  CWYC_DONE_LOCAL = 1u << 0,  /* the source buffer may be reused */
  CWYC_DONE_REMOTE = 1u << 1  /* put: visible at the target; get/atomic: result is in memory */
};

/* One pending operation. Owned by the caller, who keeps it at one address until CWYC_DONE_REMOTE
 * (or, for active messages, CWYC_DONE_LOCAL) was reported. It never grows: callers of every minor
 * make it. */
typedef struct cwyc_op {
  /* Called by the conduit. `what` is a mask of CWYC_DONE_*; each bit is reported exactly once.
   * On an error status every bit not yet reported is reported together. After the last bit the
   * conduit does not touch the op. Runs on a thread that is inside the endpoint; does not
   * communicate. `detail` is NULL where there is nothing to add, as after every success. */
  void (*fn)(struct cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail);
  /* The conduit's while the operation is pending, so that it needs no allocation of its own:
   * `state` for what is still to be reported, and `scratch`, large enough for the largest
   * libfabric context, a work-request link, a list node. */
  uint64_t state;
  uint64_t scratch[8];
} cwyc_op;

/* ---- connections -------------------------------------------------------------------------- */

struct cwyc_ops;

/* One connection. Allocated and zeroed by the core with `conn_size` further bytes behind it
 * (cwyc_ep_attr), cache-line aligned. The core owns the members up to `priv`; the conduit owns
 * the bytes behind the structure, `priv`, and `table` until the connection is up. */
typedef struct cwyc_conn {
  const struct cwyc_ops* ops; /* the core's completed copy of a table; never NULL */
  void* core;                 /* the core's record of this connection */
  cwyc_ep* ep;
  cwy_peer peer;
  void* priv;
  uint32_t table; /* set in connect(): index in module->ops of what serves this peer */
  uint32_t reserved;
  uint64_t reserved2[2];
} cwyc_conn;

/* Flags of hot operations. The low 16 bits change what a call means: one that a later minor adds is
 * set only for a connection whose capabilities say that it is understood. The high 16 bits are
 * hints, which a conduit may ignore; the three highest are the core's own. */
enum {
  CWYC_LANE_REPLY = 1u << 0,   /* an AM reply: must get through while requests are blocked */
  CWYC_SRC_VOLATILE = 1u << 1  /* copy the source before returning (puts over 512 bytes: may be later) */
};

typedef struct cwyc_atomic {
  cwy_head head;
  uint64_t raddr;     /* owner's address, naturally aligned */
  uint64_t operand1;  /* in the low bytes, in the representation of the data type */
  uint64_t operand2;  /* compare-and-swap: the new value */
  void* result;       /* fetching operations: receives the previous value; else NULL */
  uint32_t dt;     /* CWY_DT_* */
  uint32_t opcode; /* CWY_OP_* */
} cwyc_atomic;

/* Pieces of a vector transfer. They never grow: what a later minor says stands in cwyc_vector. */
typedef struct cwyc_iov {
  void* addr;
  uint64_t length;
} cwyc_iov;

typedef struct cwyc_riov {
  uint64_t addr;
  uint64_t length;
} cwyc_riov;

/* A vector transfer. The two lists cover equal byte counts, cut at any place. All remote pieces lie
 * in the memory of one rkey, all local ones in `lmem` where that is not NULL. At most attr.iov_max
 * entries each. */
typedef struct cwyc_vector {
  cwy_head head;
  const cwyc_iov* local;
  uint64_t local_count;
  cwyc_mem* lmem;
  const cwyc_riov* remote;
  uint64_t remote_count;
  cwyc_rkey* rkey;
} cwyc_vector;

/* A negotiated send. The caller fills the head; am_prepare fills the rest, am_commit or am_cancel
 * consumes it. */
typedef struct cwyc_am_slot {
  cwy_head head;
  void* buffer;    /* where the payload is to be written; aligned for any type */
  uint64_t length; /* bytes available there */
  uint64_t priv[6];
} cwyc_am_slot;

/* Concurrency a table declares. */
enum {
  CWYC_SERIAL = 0, /* the core never lets two threads into one endpoint at a time */
  CWYC_MULTI = 1,  /* any thread, any time; the conduit has its own lanes or locks */
  CWYC_LOCKED = 2  /* as MULTI, but while deliver() runs, calls of other threads wait for a lock */
};

/* Hot operations. Addresses of the peer are the owner's virtual addresses inside the memory the
 * rkey stands for. `lmem` covers the local buffer, or is NULL when it is not registered (the
 * conduit then copies or registers on its own). Lengths are bytes; 0 is legal everywhere and
 * moves nothing. */
typedef struct cwyc_ops {
  cwy_head head;
  uint32_t concurrency; /* CWYC_SERIAL, CWYC_MULTI or CWYC_LOCKED */
  uint32_t reserved;

  cwy_status (*put)(cwyc_conn* conn, const void* src, cwyc_mem* lmem, uint64_t raddr,
                    cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op);
  cwy_status (*get)(cwyc_conn* conn, void* dst, cwyc_mem* lmem, uint64_t raddr, cwyc_rkey* rkey,
                    size_t length, uint32_t flags, cwyc_op* op);
  /* Vector forms. `v` and its lists are consumed before return. */
  cwy_status (*putv)(cwyc_conn* conn, const cwyc_vector* v, uint32_t flags, cwyc_op* op);
  cwy_status (*getv)(cwyc_conn* conn, const cwyc_vector* v, uint32_t flags, cwyc_op* op);
  /* `a` is consumed before return. Only for pairs (dt, opcode) that attr.atomic_ops declares. */
  cwy_status (*atomic)(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                       cwyc_op* op);

  /* Active messages. `word` is the core's and travels untouched. Arguments are copied before
   * return. A short has no completion: CWY_OK means accepted, and delivery happens once or the
   * peer has failed. Medium and long report CWYC_DONE_LOCAL only. A long's payload is visible at
   * raddr before its delivery upcall runs. */
  cwy_status (*am_short)(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         uint32_t flags);
  cwy_status (*am_medium)(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                          const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                          cwyc_op* op);
  cwy_status (*am_long)(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                        const void* payload, cwyc_mem* lmem, size_t length, uint64_t raddr,
                        cwyc_rkey* rkey, uint32_t flags, cwyc_op* op);

  /* Negotiated medium: reserves room for `least`..`most` payload bytes and `nargs` arguments in
   * the conduit's own send buffer. Exactly one commit or cancel follows on the same thread, with
   * no other operation of that thread on the connection between. Commit cannot fail and cannot
   * answer RETRY. */
  cwy_status (*am_prepare)(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                           uint32_t flags, cwyc_am_slot* slot);
  void (*am_commit)(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                    uint32_t nargs, size_t length);
  void (*am_cancel)(cwyc_conn* conn, cwyc_am_slot* slot);
} cwyc_ops;

/* ---- what an endpoint can do -------------------------------------------------------------- */

/* Capabilities: what entries of a table, and calls, guarantee. Either side ignores unknown bits. No
 * enumerators, since those of C99 are ints. */
#define CWYC_CAP_PUT (UINT64_C(1) << 0)
#define CWYC_CAP_GET (UINT64_C(1) << 1)
#define CWYC_CAP_ATOMIC (UINT64_C(1) << 2)
#define CWYC_CAP_VECTOR (UINT64_C(1) << 3)
#define CWYC_CAP_AM_LONG (UINT64_C(1) << 4)
#define CWYC_CAP_AM_PREPARE (UINT64_C(1) << 5)
#define CWYC_CAP_DIRECT (UINT64_C(1) << 6)       /* rkey_direct can succeed: memory is mapped */
#define CWYC_CAP_ORDER_PUT_AM (UINT64_C(1) << 7) /* an AM is delivered after earlier puts */
#define CWYC_CAP_ATOMIC_CPU (UINT64_C(1) << 8)   /* coherent with atomics of this host's CPUs */

/* Those from bit 32 on are an endpoint's; all others are a connection's. */
#define CWYC_CAPS_OF_EP (~UINT64_C(0) << 32)
#define CWYC_CAP_MEM_ALLOC (UINT64_C(1) << 32) /* mem_alloc makes memory it reaches best */
#define CWYC_CAP_MEM_REG (UINT64_C(1) << 33)   /* memory of the client's can be registered */
#define CWYC_CAP_WAIT_FD (UINT64_C(1) << 34)
#define CWYC_CAP_NAP (UINT64_C(1) << 35)          /* nap() sleeps until something arrives */
#define CWYC_CAP_PEER_FAILURE (UINT64_C(1) << 36) /* a dead peer is reported without being asked */
#define CWYC_CAP_NO_PROGRESS (UINT64_C(1) << 37)  /* progress() never has anything to do */
#define CWYC_CAP_WIRING (UINT64_C(1) << 38)       /* peers need an address each: wiring() */
#define CWYC_CAP_SHARED_KEYS (UINT64_C(1) << 39)  /* an rkey serves all with the same bytes */
/* A peer may reach memory after its mem_release. */
#define CWYC_CAP_REACHES_RELEASED (UINT64_C(1) << 40)

typedef struct cwyc_ep_attr {
  cwy_head head;
  uint64_t caps;              /* CWYC_CAP_* */
  uint64_t conn_size;         /* bytes the conduit wants behind each cwyc_conn */
  uint64_t ep_address_max;    /* most bytes ep_address and wiring write */
  uint64_t rkey_max;          /* most bytes rkey_pack writes */
  uint64_t rma_max;           /* most bytes of one put or get; the core cuts larger ones */
  uint64_t am_medium_max;     /* payload bytes with 16 arguments; at least 512 */
  uint64_t am_long_max;       /* the same; 0 without am_long */
  uint64_t iov_max;
  uint64_t mem_forms;         /* CWY_FORM_* that mem_reg takes */
  uint64_t atomic_ops[16];    /* per bit number of CWY_DT_*: mask of CWY_OP_* */
  uint64_t speed;             /* bytes per second, rough: how rails share a transfer; 0: unknown */
  uint32_t ops_tables;        /* the first so many of module->ops serve this endpoint; at least 1 */
  uint32_t reserved;
  uint64_t mem_room;          /* bytes of mem_alloc for each rank of this host; 0: all there is */
} cwyc_ep_attr;

/* What the connections of one table can do. The members mean what those of cwyc_ep_attr mean,
 * whose values are not read where there is class_query. */
typedef struct cwyc_class_attr {
  cwy_head head;
  uint64_t caps; /* CWYC_CAP_* without CWYC_CAPS_OF_EP */
  uint64_t rma_max;
  uint64_t am_medium_max;
  uint64_t am_long_max;
  uint64_t iov_max;
  uint64_t atomic_ops[16];
  uint64_t speed;
} cwyc_class_attr;

/* ---- upcalls ------------------------------------------------------------------------------ */

enum { CWYC_AM_SHORT = 0, CWYC_AM_MEDIUM = 1, CWYC_AM_LONG = 2 };

/* Delivers one active message. Called from progress() only (and, for a message to oneself, from
 * the posting call). `args` and a medium's `payload` stay the conduit's and are valid during the
 * call, a payload longer where am_retain() says so; the receiver may write into a medium's payload,
 * which is aligned to 16 bytes. For a long, payload is the address in this process. The upcall may
 * post CWYC_LANE_REPLY messages on the same endpoint and may call progress() for that lane only. */
typedef void (*cwyc_deliver_fn)(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                                const int32_t* args, uint32_t nargs, void* payload,
                                size_t length);

/* A medium whose payload is still on its way: at its sender, or in the network. */
typedef struct cwyc_arrival {
  cwy_head head;
  cwy_peer from;
  uint64_t word;
  const int32_t* args;
  uint32_t nargs;
  uint32_t reserved;
  uint64_t length; /* of the payload */
} cwyc_arrival;

/* Where the payload is to be written, which deliver() then gets as `payload`. NULL: into memory of
 * the conduit's. A conduit need not ask. Called from progress(); posts nothing. */
typedef void* (*cwyc_place_fn)(void* core_ep, const cwyc_arrival* arrival);

typedef struct cwyc_ep_params {
  cwy_head head;
  void* core_ep;            /* first argument of upcalls and of peer_state/wake */
  cwyc_deliver_fn deliver;
  uint32_t index;           /* of the endpoint within the process; 0 is the primordial one */
  uint32_t multithreaded;   /* initial value of ep_threads */
  uint32_t max_peers;       /* ranks that may ever be connected */
  uint32_t reserved;
  cwyc_place_fn place;
  /* In place of services->peer_state, where a conduit stands in front; else NULL. */
  void (*peer_state)(void* core_ep, cwy_peer peer, cwy_peer_state state, const char* why);
} cwyc_ep_params;

/* How the core sees a peer when it asks reach() and connect(); valid during the call. */
typedef struct cwyc_peer_desc {
  cwy_head head;
  cwy_peer peer;
  uint32_t same_process;
  uint32_t same_host;       /* same operating system instance, by host_id */
  uint32_t local_index;     /* among the job's ranks of that host */
  uint32_t pid;             /* as the peer sees itself; meaningful when same_host */
  const char* hostname;
  const void* address;      /* what the peer's ep_address wrote; NULL in a dry run (explain) */
  uint64_t address_len;
  const void* wiring;       /* connect under CAP_WIRING: what the peer's wrote for us; else NULL */
  uint64_t wiring_len;
} cwyc_peer_desc;

/* Lanes of progress. */
enum { CWYC_PROGRESS_ALL = 0, CWYC_PROGRESS_REPLIES = 1 };

/* Reads one named counter of an endpoint (messages, bytes, retries ...). */
typedef void (*cwyc_stat_fn)(void* arg, const char* name, uint64_t value);
enum { CWYC_SENT, CWYC_SENT_BYTES, CWYC_RECEIVED, CWYC_RECEIVED_BYTES, CWYC_RETRIES };
/* `count` of these; bytes that a get fetches are received. UINT32_MAX: of ranks not told apart. */
typedef void (*cwyc_traffic_fn)(void* arg, uint32_t rank, const uint64_t* counts, uint32_t count);

/* ---- devices ------------------------------------------------------------------------------ */

enum { CWYC_DEVICE_UNKNOWN = 0, CWYC_DEVICE_UP = 1, CWYC_DEVICE_DOWN = 2 };

/* One device. Strings are never NULL, and valid during the call that has them. */
typedef struct cwyc_device {
  cwy_head head;
  const char* name;        /* as domain_open takes it; unique */
  const char* description; /* one line for people */
  const char* path;        /* PCI address "0000:3b:00.0", else a path in sysfs; "": unknown */
  uint64_t speed;          /* bytes per second, 0: unknown */
  /* Devices of one network, other than 0, reach the same peers at the same speed, so that the core
   * may take any of them. 0: taken by name, or by the conduit's own choice, only. */
  uint64_t network;
  int32_t numa_node; /* -1: unknown */
  uint32_t state;    /* CWYC_DEVICE_*; one that is DOWN need not open */
  uint32_t ports;    /* of the adapter, 0: unknown */
  uint32_t port;     /* which of them this is, from 1; 0: unknown, or all */
} cwyc_device;

typedef void (*cwyc_device_fn)(void* arg, const cwyc_device* device);

/* What a domain is opened with. Strings are never NULL, and valid during the call. */
typedef struct cwyc_domain_params {
  cwy_head head;
  const char* device;  /* a name of list_devices; "": the conduit's choice */
  uint8_t job_key[16]; /* the same for all ranks of the job, and nobody else can guess it */
  /* What the launcher has allotted of the network, in its own words; "": it says nothing. */
  const char* vnis;            /* SLINGSHOT_VNIS */
  const char* service_ids;     /* SLINGSHOT_SVC_IDS */
  const char* service_devices; /* SLINGSHOT_DEVICES: those of these services, in their order */
} cwyc_domain_params;

/* ---- the module --------------------------------------------------------------------------- */

/* Cold calls. Unless noted: one thread at a time per domain; not from inside upcalls; may take as
 * long as a system call does, never as long as a peer does. */
typedef struct cwyc_module {
  cwy_head head;
  uint32_t min_core_minor; /* smallest CWY_PLUGIN_MINOR of a core this plugin works with */
  uint32_t ops_count;
  const cwyc_ops* const* ops; /* tables; a connection uses ops[conn->table] */
  uint64_t flags;             /* none defined; 0 */

  /* For plugins whose tables depend on their options, as of those in front of another conduit: the
   * module for these options. Called once per conduit, before any other call with `opts`; may use
   * services->wrap_conduit. *out stays valid and unchanged until fini. NULL: it is this module. */
  cwy_status (*configure)(const cwy_options* opts, const struct cwyc_module** out, cwy_err* err);

  /* Calls fn once per device, those that the conduit would rather take first. No device: not
   * called, CWY_OK. */
  cwy_status (*list_devices)(const cwy_options* opts, cwyc_device_fn fn, void* arg, cwy_err* err);

  cwy_status (*domain_open)(const cwy_options* opts, const cwyc_domain_params* params,
                            cwyc_domain** out, cwy_err* err);
  void (*domain_close)(cwyc_domain* domain);

  cwy_status (*ep_open)(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                        cwy_err* err);
  void (*ep_close)(cwyc_ep* ep); /* after disconnect of every connection */
  cwy_status (*ep_query)(cwyc_ep* ep, cwyc_ep_attr* attr); /* constant after ep_open */
  /* Where connections differ; both or neither. NULL: ep_query tells of each. class_query: of those
   * of table `table`, constant after ep_open. class_of: which connect() takes where reach()
   * accepts. */
  cwy_status (*class_query)(cwyc_ep* ep, uint32_t table, cwyc_class_attr* attr);
  uint32_t (*class_of)(cwyc_domain* domain, const cwyc_peer_desc* peer);
  /* Writes what a peer needs to connect; *len in: room, out: bytes. */
  cwy_status (*ep_address)(cwyc_ep* ep, void* buf, uint64_t* len, cwy_err* err);
  /* Under CAP_WIRING: writes what that process needs to connect to this endpoint; *len as in
   * ep_address. Called before either side connects; answers the same for the same process. */
  cwy_status (*wiring)(cwyc_ep* ep, cwy_peer peer, void* buf, uint64_t* len, cwy_err* err);
  /* From now on several threads may enter: multithreaded is 1. */
  cwy_status (*ep_threads)(cwyc_ep* ep, uint32_t multithreaded);

  /* Can this domain talk to that peer? CWY_OK, or CWY_ERR_UNREACHABLE with err->text as the
   * reason that `causeway explain` prints. No side effects, no communication. */
  cwy_status (*reach)(cwyc_domain* domain, const cwyc_peer_desc* peer, cwy_err* err);

  /* Makes `conn` usable. CWY_INPROGRESS: op reports CWYC_DONE_REMOTE; until then the core posts
   * nothing on it. The peer need not call anything but progress. */
  cwy_status (*connect)(cwyc_ep* ep, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                        cwy_err* err);
  /* Ends a quiet connection. */
  void (*disconnect)(cwyc_conn* conn);
  /* Completes everything pending on the connection with CWY_ERR_PEER_FAILED, from this call, and
   * makes later posts answer that. Idempotent. disconnect still follows. */
  void (*purge)(cwyc_conn* conn);

  /* Memory the conduit serves best (shareable, registered). *addr in: wish or NULL; out: where.
   * `length` is a multiple of the page size. */
  cwy_status (*mem_alloc)(cwyc_domain* domain, size_t length, void** addr, cwyc_mem** out,
                          cwy_err* err);
  cwy_status (*mem_reg)(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err);
  /* Undoes either; memory from mem_alloc is unmapped here. No operation may be using it. */
  void (*mem_release)(cwyc_domain* domain, cwyc_mem* mem);
  /* What peers need to reach the memory; *len in: room, out: bytes. */
  cwy_status (*rkey_pack)(cwyc_mem* mem, void* buf, uint64_t* len, cwy_err* err);
  cwy_status (*rkey_open)(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t len,
                          cwyc_rkey** out, cwy_err* err);
  void (*rkey_close)(cwyc_ep* ep, cwyc_rkey* rkey);
  /* CWY_OK and *delta such that (owner address + *delta) is the same byte in this process, for
   * the whole memory and until rkey_close; else CWY_ERR_UNSUPPORTED. */
  cwy_status (*rkey_direct)(cwyc_rkey* rkey, intptr_t* delta);

  /* Moves things forward: at most about `budget` deliveries or completions. Returns how many
   * there were. Hot; on SERIAL endpoints under the core's lock. `lane` CWYC_PROGRESS_REPLIES:
   * deliver replies only (called while a request handler waits for room to reply). */
  uint32_t (*progress)(cwyc_ep* ep, uint32_t budget, uint32_t lane);

  /* Hot; both or neither. From inside deliver() of a medium, on its thread, once at most. CWY_OK:
   * the payload stays valid, and the receiver's, until am_release(*kept). Any other answer: it does
   * not, so the receiver copies. am_release: from any thread at any time, inside deliver() too;
   * waits for nobody. */
  cwy_status (*am_retain)(cwyc_ep* ep, void* payload, void** kept);
  void (*am_release)(cwyc_ep* ep, void* kept);

  /* A descriptor that polls readable when progress has work. Stays the conduit's. */
  cwy_status (*wait_fd)(cwyc_ep* ep, int* fd);
  /* CWY_OK: the next arrival makes the descriptor readable. CWY_RETRY: something is pending. */
  cwy_status (*arm)(cwyc_ep* ep);
  /* Sleeps until something may have arrived, at most max_ns. For conduits without descriptor. */
  void (*nap)(cwyc_ep* ep, uint64_t max_ns);

  /* Counters for `causeway info` and end-of-run reports. */
  void (*ep_stats)(cwyc_ep* ep, cwyc_stat_fn fn, void* arg);
  /* For `causeway ps`. From a thread of the core's, beside any other call; waits for nobody. */
  void (*ep_traffic)(cwyc_ep* ep, cwyc_traffic_fn fn, void* arg);

  void (*fini)(void); /* once, after every domain is closed */
} cwyc_module;

/* The one symbol a conduit exports. Called before any other call, and never again unless fini()
 * was called meanwhile. On success *module points to a table that lives as long as the plugin.
 * `err` as documented above. */
typedef cwy_status (*cwy_conduit_init_fn)(const cwy_services* services, const cwyc_module** module,
                                          cwy_err* err);
#define CWY_CONDUIT_INIT cwy_conduit_init_v2
#define CWY_CONDUIT_INIT_NAME "cwy_conduit_init_v2"

#ifdef __cplusplus
}
#endif
#endif
