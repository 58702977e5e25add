/* causeway/memkind.h - the interface of a memory-kind plugin, version 2.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A memory kind knows one sort of memory (host, CUDA, HIP, Level Zero, a vendor's own): which
 * devices there are, who owns a pointer, how to allocate, to name memory so that a conduit or
 * another process can reach it, and how to copy. The core meets a kind's forms with a conduit's;
 * where they do not meet it stages through host memory with copy(). Normative text:
 * causeway-memkind(7).
 */
#ifndef CAUSEWAY_MEMKIND_H
#define CAUSEWAY_MEMKIND_H

#include <causeway/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cwym_kind cwym_kind;     /* one device (or the host) opened for use */
typedef struct cwym_import cwym_import; /* another process's memory, opened here */

/* A pending copy. Same rules as cwyc_op: owned by the caller, fn is called exactly once after
 * CWY_INPROGRESS, from progress() of the kind. */
typedef struct cwym_op {
  void (*fn)(struct cwym_op* op, cwy_status status);
  uint64_t reserved;
  uint64_t scratch[8];
} cwym_op;

enum {
  CWYM_CAP_ALLOC = 1ull << 0,        /* alloc/free */
  CWYM_CAP_HOST_ACCESS = 1ull << 1,  /* the processor may load and store this memory */
  CWYM_CAP_ASYNC_COPY = 1ull << 2,   /* copy may answer INPROGRESS */
  CWYM_CAP_PEER_COPY = 1ull << 3,    /* copies between two devices of the kind without staging */
  CWYM_CAP_WAIT_FD = 1ull << 4,
  CWYM_CAP_UNIFIED_VA = 1ull << 5    /* a pointer names its device by itself (who_owns works) */
};

typedef struct cwym_attr {
  cwy_head head;
  uint64_t caps;          /* CWYM_CAP_* */
  uint32_t kind_class;    /* cwy_memkind_class */
  int32_t device;         /* ordinal, -1 for host */
  uint64_t export_forms;  /* CWY_FORM_* that export_mem can produce */
  uint64_t import_forms;  /* CWY_FORM_* that import_mem takes */
  uint64_t alignment;     /* of alloc, and of memory that can be exported */
  uint64_t total_bytes;   /* of the device, 0 if unknown */
  uint32_t pci_domain, pci_bus, pci_device, pci_function; /* for locality; all ones if none */
} cwym_attr;

typedef void (*cwym_device_fn)(void* arg, int32_t device, const char* description);

/* All calls: any thread; the kind does its own locking. No call waits for a peer. */
typedef struct cwym_module {
  cwy_head head;
  uint32_t min_core_minor;
  uint32_t kind_class;
  uint64_t flags; /* none defined; 0 */

  /* Present devices. A missing driver is CWY_ERR_UNSUPPORTED with the reason in err. */
  cwy_status (*list_devices)(cwym_device_fn fn, void* arg, cwy_err* err);

  /* `native` is the client's own handle for the device (a context, a queue) in the form the
   * kind's README names, or NULL for the kind's default. Not owned by the plugin. */
  cwy_status (*create)(const cwy_options* opts, int32_t device, const void* native,
                       uint64_t native_len, cwym_kind** out, cwy_err* err);
  void (*destroy)(cwym_kind* kind); /* after every memory and copy of it has ended */
  cwy_status (*query)(cwym_kind* kind, cwym_attr* attr);

  /* CWY_OK and the device ordinal if [addr, addr+length) is memory of this kind;
   * CWY_ERR_INVALID if it is not, or not entirely. Must not fault on any address. */
  cwy_status (*who_owns)(const void* addr, uint64_t length, int32_t* device);

  cwy_status (*alloc)(cwym_kind* kind, uint64_t length, void** out, cwy_err* err);
  cwy_status (*release)(cwym_kind* kind, void* addr);

  /* Describes memory in one form. A DMABUF descriptor produced here is the caller's to close. */
  cwy_status (*export_mem)(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                           cwy_memref* out, cwy_err* err);
  cwy_status (*import_mem)(cwym_kind* kind, const cwy_memref* ref, cwym_import** out, void** addr,
                           cwy_err* err);
  void (*import_close)(cwym_kind* kind, cwym_import* import);

  /* Either side may be memory of this kind or host memory; ranges do not overlap. CWY_OK: done.
   * CWY_INPROGRESS: op->fn follows. Copies of one kind may finish in any order. */
  cwy_status (*copy)(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op);
  /* Completes finished copies; returns how many. */
  uint32_t (*progress)(cwym_kind* kind, uint32_t budget);
  cwy_status (*wait_fd)(cwym_kind* kind, int* fd);

  /* Makes the device current for the calling thread, and restores what was. Pairs nest. */
  cwy_status (*push)(cwym_kind* kind);
  cwy_status (*pop)(cwym_kind* kind);
  /* Makes writes that a network did to this memory visible to the device, and the reverse. */
  cwy_status (*flush)(cwym_kind* kind, const void* addr, uint64_t length);

  /* Page-locks host memory for fast copies, and undoes it. Optional. */
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
