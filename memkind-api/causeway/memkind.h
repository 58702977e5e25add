/* causeway/memkind.h - the interface of a memory-kind plugin, version 2.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A memory kind knows one sort of memory (host, CUDA, HIP, Level Zero, a vendor's own): which
 * devices there are, who owns a pointer, how to allocate, to name memory so that a conduit or
 * another process can reach it, and how to copy. The core meets a kind's forms with a conduit's;
 * where they do not meet it stages through host memory with copy(). Normative text:
 * causeway-memkind(7).
 *
 * Structures begin with a head: a callee reads and writes at most head.struct_size bytes of one.
 * Reserved members are 0, and readers ignore them.
 */
#ifndef CAUSEWAY_MEMKIND_H
#define CAUSEWAY_MEMKIND_H

#include <causeway/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cwym_kind cwym_kind;     /* one device (or the host) opened for use */
typedef struct cwym_import cwym_import; /* another process's memory, opened here */

/* A pending copy. Owned by the caller, who keeps it at one address until its report. It never
 * grows: callers of every minor make it. */
typedef struct cwym_op {
  /* Called by the kind, from progress(), exactly once after CWY_INPROGRESS; the kind does not touch
   * the op after that. `detail` is NULL where there is nothing to add. */
  void (*fn)(struct cwym_op* op, cwy_status status, const cwy_detail* detail);
  /* The kind's while the copy is pending, as in cwyc_op. */
  uint64_t state;
  uint64_t scratch[8];
} cwym_op;

/* Capabilities. Either side ignores unknown bits. */
/* Copies between two devices of the kind without staging. */
#define CWYM_CAP_PEER_COPY (UINT64_C(1) << 0)

typedef struct cwym_attr {
  cwy_head head;
  uint64_t caps;          /* CWYM_CAP_* */
  uint32_t kind_class;    /* cwy_memkind_class */
  int32_t device;         /* ordinal, -1 for host */
  uint64_t export_forms;  /* CWY_FORM_* that export_mem can produce */
  uint64_t import_forms;  /* CWY_FORM_* that import_mem takes */
  uint64_t alignment;     /* of alloc, and of memory that can be exported */
  uint64_t total_bytes;   /* of the device, 0 if unknown */
} cwym_attr;

/* A device that is present. Texts are never NULL, and valid during the report. */
typedef struct cwym_device {
  cwy_head head;
  const char* description; /* one line for people */
  const char* path;        /* PCI address "0000:3b:00.0", else a path in sysfs; "": unknown */
  int32_t index;           /* as create takes it; unique; -1: host memory */
  int32_t numa_node;       /* -1: unknown */
} cwym_device;

typedef void (*cwym_device_fn)(void* arg, const cwym_device* device);

/* All calls: any thread; the kind does its own locking. No call waits for a peer. */
typedef struct cwym_module {
  cwy_head head;
  uint32_t min_core_minor; /* smallest CWY_PLUGIN_MINOR of a core this plugin works with */
  uint32_t reserved;
  uint64_t flags; /* none defined; 0 */

  /* Calls fn once per device that is present. A missing driver is CWY_ERR_UNSUPPORTED with the
   * reason in err. */
  cwy_status (*list_devices)(cwym_device_fn fn, void* arg, cwy_err* err);

  /* `native` is the client's own handle for the device (a context, a queue) in the form that
   * causeway-memkind(7) names, or NULL for the kind's default. Not owned by the plugin. */
  cwy_status (*create)(const cwy_options* opts, int32_t device, const void* native,
                       uint64_t native_len, cwym_kind** out, cwy_err* err);
  void (*destroy)(cwym_kind* kind); /* after every memory and copy of it has ended */
  cwy_status (*query)(cwym_kind* kind, cwym_attr* attr);

  /* CWY_OK and the device ordinal if [addr, addr+length) is memory of this kind;
   * CWY_ERR_INVALID if it is not, or not entirely. Length 0 asks for the byte at addr. Must not
   * fault on any address. */
  cwy_status (*who_owns)(const void* addr, uint64_t length, int32_t* device);

  /* Length 0 gives a place of its own. release: exactly what alloc gave; NULL is CWY_OK. */
  cwy_status (*alloc)(cwym_kind* kind, uint64_t length, void** out, cwy_err* err);
  cwy_status (*release)(cwym_kind* kind, void* addr);

  /* Describes memory in one form. A DMABUF descriptor produced here is the caller's to close. */
  cwy_status (*export_mem)(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                           cwy_memref* out, cwy_err* err);
  cwy_status (*import_mem)(cwym_kind* kind, const cwy_memref* ref, cwym_import** out, void** addr,
                           cwy_err* err);
  void (*import_close)(cwym_kind* kind, cwym_import* import);

  /* Either side may be memory of this kind or host memory; ranges do not overlap. CWY_OK: done, op
   * not used. CWY_INPROGRESS: op->fn follows. CWY_RETRY: nothing was begun. `op` is never NULL.
   * Copies of one kind may finish in any order. */
  cwy_status (*copy)(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op);
  /* Completes finished copies; returns how many. */
  uint32_t (*progress)(cwym_kind* kind, uint32_t budget);

  /* Makes the device current for the calling thread, and restores what was. Pairs nest. */
  cwy_status (*push)(cwym_kind* kind);
  cwy_status (*pop)(cwym_kind* kind);
  /* Makes writes that a network did to this memory visible to the device, and the reverse. */
  cwy_status (*flush)(cwym_kind* kind, const void* addr, uint64_t length);

  /* Page-locks host memory for fast copies, and undoes it. Optional; both or neither. */
  cwy_status (*pin_host)(cwym_kind* kind, void* addr, uint64_t length, cwy_err* err);
  cwy_status (*unpin_host)(cwym_kind* kind, void* addr);

  void (*fini)(void);
} cwym_module;

typedef cwy_status (*cwy_memkind_init_fn)(const cwy_services* services, const cwym_module** module,
                                          cwy_err* err);
#define CWY_MEMKIND_INIT cwy_memkind_init_v2
#define CWY_MEMKIND_INIT_NAME "cwy_memkind_init_v2"

#ifdef __cplusplus
}
#endif
#endif
