/* causeway/plugin.h - what all three kinds of Causeway plugin share.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A plugin is one shared object that exports one function (see CWY_CONDUIT_INIT,
 * CWY_MEMKIND_INIT, CWY_COLLECTIVE_INIT in the header of its kind) and carries one ELF
 * section, `cwy_manifest`. It links no core symbol: what the core offers comes in
 * `cwy_services`. The normative text is causeway-conduit(7); this header is C99.
 *
 * Within a major version structures only grow at the end, and never into padding. A reader of a
 * structure looks at `head.struct_size` before it touches a member added by a later minor.
 * Structures without a head never grow. Members called `reserved` are 0; a later minor may name one,
 * and 0 goes on meaning what it meant. A caller zeroes what it gives a callee to fill, but the head.
 */
#ifndef CAUSEWAY_PLUGIN_H
#define CAUSEWAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CWY_PLUGIN_MAJOR 2
#define CWY_PLUGIN_MINOR 0

/* Leads every structure that crosses the boundary. The writer of the structure fills it with
 * its own sizeof and version. */
typedef struct cwy_head {
  uint32_t struct_size;
  uint16_t major;
  uint16_t minor;
} cwy_head;

/* Initialiser of a cwy_head for structure type T. */
#define CWY_HEAD(T) \
  { (uint32_t)sizeof(T), CWY_PLUGIN_MAJOR, CWY_PLUGIN_MINOR }

/* Every call's answer. OK, INPROGRESS and RETRY are no errors; what has no name here is one. */
typedef int32_t cwy_status;
enum {
  CWY_OK = 0,                  /* done; nothing will be reported later */
  CWY_INPROGRESS = 1,          /* accepted; its cwyc_op completes exactly once, whatever fails */
  CWY_RETRY = -1,              /* back-pressure: nothing was posted; call progress and try again */
  CWY_ERR_UNSUPPORTED = -2,    /* this plugin, device or peer cannot do it, ever */
  CWY_ERR_INVALID = -3,        /* an argument breaks the documented contract */
  CWY_ERR_NOMEM = -4,          /* memory, registrations or queue entries are exhausted */
  CWY_ERR_UNREACHABLE = -5,    /* no path to the peer */
  CWY_ERR_TIMEOUT = -6,        /* a documented time limit passed */
  CWY_ERR_PEER_FAILED = -7,    /* the peer (or its epoch) is gone */
  CWY_ERR_DEVICE_FAILED = -8   /* the local device is gone; every peer through it is too */
};

/* Text beside a failing status, written where the failure is first detected. The caller owns
 * it; `text` is NUL-terminated, one line, without a trailing period, and says what was expected
 * and what to do. A callee that succeeds leaves it alone. */
typedef struct cwy_err {
  cwy_head head;
  cwy_status status;
  uint32_t reserved;
  char text[496];
} cwy_err;

/* What a network or a driver says of an operation beyond its status. Valid during the report, and
 * looked at beside an error only. */
typedef struct cwy_detail {
  cwy_head head;
  int32_t code; /* the library's own number of an error, 0: none */
  uint32_t reserved;
  const char* text; /* one line about it, without a period; NULL: none */
} cwy_detail;

/* Names one incarnation of one process of the job. A rank that died and was replaced has a
 * larger epoch; anything that arrives under an older epoch is dropped by the receiver. */
typedef struct cwy_peer {
  uint32_t rank;  /* core rank, 0 .. size-1; not a PMIx rank */
  uint32_t epoch; /* starts at 1 */
} cwy_peer;

typedef uint32_t cwy_log_level;
enum {
  CWY_LOG_ERROR = 0,
  CWY_LOG_WARN = 1,
  CWY_LOG_INFO = 2,
  CWY_LOG_DEBUG = 3
};

/* What the core says of a peer, and what a conduit reports of one. */
typedef uint32_t cwy_peer_state;
enum {
  CWY_PEER_ALIVE = 0,
  CWY_PEER_SUSPECT = 1, /* silent for longer than expected; may come back */
  CWY_PEER_FAILED = 2   /* final for this epoch */
};

/* Kinds of memory, as far as the interfaces between plugins need them. */
typedef uint32_t cwy_memkind_class;
enum {
  CWY_MEM_HOST = 0,
  CWY_MEM_CUDA = 1,
  CWY_MEM_HIP = 2,
  CWY_MEM_ZE = 3,
  CWY_MEM_VENDOR_BASE = 64 /* out-of-tree kinds number upward from here */
};

/* Forms in which a memory kind can hand memory to a conduit (bit mask). The core intersects
 * what the kind exports with what the conduit imports. */
enum {
  CWY_FORM_HOST_VA = 1u << 0,   /* ordinary memory of this process */
  CWY_FORM_DEVICE_VA = 1u << 1, /* a device address the conduit's library understands */
  CWY_FORM_DMABUF = 1u << 2,    /* a dma-buf file descriptor, offset and length */
  CWY_FORM_IPC = 1u << 3        /* a handle that another process of this host can open */
};

/* One piece of memory in one form. */
typedef struct cwy_memref {
  cwy_head head;
  uint32_t form;        /* exactly one CWY_FORM_* bit */
  uint32_t kind_class;  /* cwy_memkind_class */
  uint64_t addr;        /* HOST_VA, DEVICE_VA: the start; otherwise the owner's address */
  uint64_t length;      /* bytes */
  int32_t device;       /* ordinal within the kind, -1 for host */
  int32_t fd;           /* DMABUF: owned by the caller, valid during the call only; else -1 */
  uint64_t offset;      /* DMABUF, IPC: where addr lies in the file or in the handle's memory */
  uint8_t ipc[64];      /* IPC: the kind's handle, opaque to the conduit */
  uint32_t ipc_len;     /* IPC: bytes of it in use */
  uint32_t pid;         /* IPC: process that exported it (some handles hold a descriptor of its) */
  uint64_t key_wish;    /* mem_reg of a conduit: the key that it should get; 0: any */
} cwy_memref;

/* Data types and operations of atomics and reductions, one bit each: the values of the client
 * interface's GEX_DT_* and GEX_OP_*, so that no translation stands on the path. The operations from
 * FMIN to FXOR are the first ten in the same order, fetching. The client's own (USER) are those of
 * reductions alone. */
enum {
  CWY_DT_I32 = 1u << 0,
  CWY_DT_U32 = 1u << 1,
  CWY_DT_I64 = 1u << 2,
  CWY_DT_U64 = 1u << 3,
  CWY_DT_FLT = 1u << 4,
  CWY_DT_DBL = 1u << 5,
  CWY_DT_USER = 1u << 6
};
enum {
  CWY_OP_MIN = 1u << 0,
  CWY_OP_SUB = 1u << 1,
  CWY_OP_MULT = 1u << 2,
  CWY_OP_ADD = 1u << 3,
  CWY_OP_MAX = 1u << 4,
  CWY_OP_INC = 1u << 5,
  CWY_OP_DEC = 1u << 6,
  CWY_OP_AND = 1u << 7,
  CWY_OP_OR = 1u << 8,
  CWY_OP_XOR = 1u << 9,
  CWY_OP_FMIN = 1u << 10,
  CWY_OP_FSUB = 1u << 11,
  CWY_OP_FMULT = 1u << 12,
  CWY_OP_FADD = 1u << 13,
  CWY_OP_FMAX = 1u << 14,
  CWY_OP_FINC = 1u << 15,
  CWY_OP_FDEC = 1u << 16,
  CWY_OP_FAND = 1u << 17,
  CWY_OP_FOR = 1u << 18,
  CWY_OP_FXOR = 1u << 19,
  CWY_OP_SET = 1u << 20,
  CWY_OP_CAS = 1u << 21,  /* compare and swap, without a result */
  CWY_OP_SWAP = 1u << 22,
  CWY_OP_GET = 1u << 23,
  CWY_OP_FCAS = 1u << 24, /* compare and swap that fetches */
  CWY_OP_USER = 1u << 25,
  CWY_OP_USER_NC = 1u << 26 /* one that does not commute */
};

/* Options of one configured plugin instance. Values have been checked against the manifest's
 * option schema and defaulted before the plugin sees them. */
typedef struct cwy_options cwy_options;

/* What a plugin may know of the job. Owned by the core, constant after start-up. */
typedef struct cwy_job {
  cwy_head head;
  uint32_t rank;         /* of this process */
  uint32_t size;         /* ranks in the job */
  uint32_t epoch;        /* of this process */
  uint32_t local_count;  /* ranks of the job on this host */
  uint32_t local_index;  /* of this process among them, by increasing rank */
  uint32_t cpu_count;    /* processors this process may run on */
  uint64_t host_id;      /* equal exactly for ranks that run on one operating system instance */
  const char* job_id;    /* printable, unique among jobs of this host, at most 63 bytes */
  const char* session_dir; /* private directory of the job on this host, swept afterwards; or "" */
} cwy_job;

struct cwyc_module; /* conduit.h */

/* Another conduit, as wrap_conduit hands it to one that stands in front of it.
 * Everything it points to stays valid until fini of the wrapping plugin. */
typedef struct cwy_wrapped {
  cwy_head head;
  const struct cwyc_module* module; /* the plugin's own table: look at its struct_size, and expect
                                       NULL members */
  const cwy_options* options;       /* for its list_devices and domain_open */
  const char* device;               /* for its domain_open, where yours names none */
  const char* plugin;               /* the plugin's name */
} cwy_wrapped;

/* Everything the core offers. One table per process, valid until the process ends.
 * Threads: unless a line says otherwise, from any call the core makes into the plugin.
 * None of these calls blocks for communication, and none throws. */
typedef struct cwy_services {
  cwy_head head;
  const cwy_job* job;

  /* Prints one line through the core's log, prefixed by rank and plugin. Any thread. */
  void (*log)(const char* plugin, cwy_log_level level, const char* text);

  /* Option values. The key must stand in the manifest; otherwise CWY_ERR_INVALID, out untouched.
   * String results live as long as `opts`. Sizes are bytes, times nanoseconds. */
  cwy_status (*opt_string)(const cwy_options* opts, const char* key, const char** out);
  cwy_status (*opt_int)(const cwy_options* opts, const char* key, int64_t* out);
  cwy_status (*opt_bool)(const cwy_options* opts, const char* key, int32_t* out);
  cwy_status (*opt_size)(const cwy_options* opts, const char* key, uint64_t* out);
  cwy_status (*opt_time)(const cwy_options* opts, const char* key, uint64_t* out);

  /* Reports what a conduit learnt of a peer. May be called from a thread of the plugin's own;
   * the core acts on it in its next progress. `why` (copied) names the symptom. */
  void (*peer_state)(void* core_ep, cwy_peer peer, cwy_peer_state state, const char* why);

  /* Ends a sleep of the core, if one is going on, so that progress is called soon. May be called
   * from a thread of the plugin's own and from a signal handler. */
  void (*wake)(void* core_ep);

  /* Monotonic clock in nanoseconds. Any thread. */
  uint64_t (*now)(void);

  /* The conduit that the configuration calls `name`, or else the plugin of that name
   * with its default options, so that the caller can stand in front of it. From
   * cwyc_module.configure only; elsewhere CWY_ERR_INVALID. The caller fills out->head. A conduit
   * that does not exist, or that would stand in front of itself, is CWY_ERR_INVALID with text. */
  cwy_status (*wrap_conduit)(const char* name, cwy_wrapped* out, cwy_err* err);

  /* Reports that a device which the conduit has open is down, or up again: its name,
   * CWYC_DEVICE_UP or CWYC_DEVICE_DOWN, and the reason, copied. Any thread, the same state again
   * does no harm. The core tells people; peers that are lost for it are reported by peer_state. */
  void (*device_state)(void* core_ep, const char* device, uint32_t state, const char* why);
} cwy_services;

/* `retain` keeps the manifest where the linker drops sections nobody refers to. */
#ifdef __has_attribute
#if __has_attribute(retain)
#define CWY_RETAIN retain,
#endif
#endif
#ifndef CWY_RETAIN
#define CWY_RETAIN
#endif

/* Places the manifest, a YAML text, where the core finds it without dlopen. Use once, at file
 * scope. Its keys are listed in causeway-conduit(7). */
#define CWY_MANIFEST(text)                                                                \
  __attribute__((section("cwy_manifest"), CWY_RETAIN used, aligned(1))) static const char \
      cwy_manifest_text[] = text

#define CWY_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
}
#endif
#endif
