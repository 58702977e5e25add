/* The host memory kind: ordinary memory of this process.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * who_owns() answers for every byte that is mapped in this process. The core asks the kinds in
 * configuration order and host last, so device memory that is also mapped here (managed memory)
 * is found by its own kind first.
 */
#include <causeway/memkind.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: host\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: ordinary memory of the process\n"
    "license: BSD-3-Clause\n"
    "options:\n"
    "  alignment:\n"
    "    type: size\n"
    "    default: '4096'\n"
    "    min: '64'\n"
    "    max: 1GiB\n"
    "    help: of allocations; a power of two\n");

static const cwy_services* services;

struct cwym_kind {
  uint64_t alignment;
};

static cwy_status fail(cwy_err* err, cwy_status status, const char* text) {
  if (err != NULL) {
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", text);
  }
  return status;
}

/* As much of `all` as the caller's structure has room for. The head stays the caller's. */
static void give(void* to, const void* all, size_t size) {
  const cwy_head head = *(const cwy_head*)to;
  memcpy(to, all, head.struct_size < size ? head.struct_size : size);
  *(cwy_head*)to = head;
}

static uint64_t page_size(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

static cwy_status host_list_devices(cwym_device_fn fn, void* arg, cwy_err* err) {
  (void)err;
  const cwym_device device = {CWY_HEAD(cwym_device), "host memory", "", -1, -1};
  fn(arg, &device);
  return CWY_OK;
}

static cwy_status host_create(const cwy_options* opts, int32_t device, const void* native,
                              uint64_t native_len, cwym_kind** out, cwy_err* err) {
  (void)native;
  if (native_len != 0)
    return fail(err, CWY_ERR_INVALID, "memory kind 'host' takes no native handle");
  if (device != -1)
    return fail(err, CWY_ERR_INVALID, "the only device of memory kind 'host' is -1");
  uint64_t alignment = 4096;
  if (opts != NULL) (void)services->opt_size(opts, "alignment", &alignment);
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0)
    return fail(err, CWY_ERR_INVALID, "option 'alignment' must be a power of two");
  cwym_kind* kind = calloc(1, sizeof *kind);
  if (kind == NULL) return fail(err, CWY_ERR_NOMEM, "no memory for a memory kind");
  kind->alignment = alignment;
  *out = kind;
  return CWY_OK;
}

static void host_destroy(cwym_kind* kind) {
  free(kind);
}

static cwy_status host_query(cwym_kind* kind, cwym_attr* attr) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const cwym_attr all = {.kind_class = CWY_MEM_HOST,
                         .device = -1,
                         .export_forms = CWY_FORM_HOST_VA,
                         .alignment = kind->alignment,
                         .total_bytes = pages > 0 ? (uint64_t)pages * page_size() : 0};
  give(attr, &all, sizeof all);
  return CWY_OK;
}

/* mincore() fails with ENOMEM exactly where a page of the range is not mapped, and touches
 * nothing. Asked in pieces, so that the vector stays on the stack. */
static int is_mapped(uintptr_t start, uint64_t length) {
  enum { PIECE = 1024 };
  unsigned char resident[PIECE];
  const uint64_t page = page_size();
  uintptr_t at = start & ~(uintptr_t)(page - 1);
  const uintptr_t last = start + length - 1; /* the caller excluded overflow */
  uint64_t pages = (last - at) / page + 1;
  while (pages > 0) {
    const uint64_t now = pages < PIECE ? pages : PIECE;
    int answer;
    do {
      answer = mincore((void*)at, now * page, resident);
    } while (answer != 0 && errno == EAGAIN);
    if (answer != 0) return 0;
    pages -= now;
    at += now * page;
  }
  return 1;
}

static cwy_status host_who_owns(const void* addr, uint64_t length, int32_t* device) {
  const uintptr_t start = (uintptr_t)addr;
  if (addr == NULL || (length != 0 && start + (length - 1) < start)) return CWY_ERR_INVALID;
  /* An empty range belongs to the kind that owns the byte it points at. */
  if (!is_mapped(start, length != 0 ? length : 1)) return CWY_ERR_INVALID;
  *device = -1;
  return CWY_OK;
}

static cwy_status host_alloc(cwym_kind* kind, uint64_t length, void** out, cwy_err* err) {
  void* memory = NULL;
  /* A length of 0 still names a place of its own. */
  if (posix_memalign(&memory, kind->alignment, length != 0 ? length : 1) != 0)
    return fail(err, CWY_ERR_NOMEM, "the process has no memory left for an allocation this large");
  *out = memory;
  return CWY_OK;
}

static cwy_status host_release(cwym_kind* kind, void* addr) {
  (void)kind;
  free(addr);
  return CWY_OK;
}

static cwy_status host_export_mem(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                                  cwy_memref* out, cwy_err* err) {
  (void)kind;
  if (form != CWY_FORM_HOST_VA)
    return fail(err, CWY_ERR_UNSUPPORTED, "memory kind 'host' exports form HOST_VA only");
  const cwy_memref all = {.form = CWY_FORM_HOST_VA,
                          .kind_class = CWY_MEM_HOST,
                          .addr = (uint64_t)(uintptr_t)addr,
                          .length = length,
                          .device = -1,
                          .fd = -1};
  give(out, &all, sizeof all);
  return CWY_OK;
}

static cwy_status host_copy(cwym_kind* kind, void* dst, const void* src, uint64_t length,
                            cwym_op* op) {
  (void)kind;
  (void)op;
  if (length != 0) memcpy(dst, src, length);
  return CWY_OK;
}

static cwy_status host_pin(cwym_kind* kind, void* addr, uint64_t length, cwy_err* err) {
  (void)kind;
  (void)addr;
  (void)length;
  (void)err;
  return CWY_OK; /* copies of this kind gain nothing from locked pages */
}

static cwy_status host_unpin(cwym_kind* kind, void* addr) {
  (void)kind;
  (void)addr;
  return CWY_OK;
}

/* import_mem, progress, push, pop and flush are left out on purpose: there is nothing to
 * import, nothing pending, no current device, and host memory is coherent. */
static const cwym_module host_module = {
    .head = CWY_HEAD(cwym_module),
    .min_core_minor = 0,
    .list_devices = host_list_devices,
    .create = host_create,
    .destroy = host_destroy,
    .query = host_query,
    .who_owns = host_who_owns,
    .alloc = host_alloc,
    .release = host_release,
    .export_mem = host_export_mem,
    .copy = host_copy,
    .pin_host = host_pin,
    .unpin_host = host_unpin,
};

CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** module,
                                       cwy_err* err);

cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** module, cwy_err* err) {
  if (core->head.major != CWY_PLUGIN_MAJOR)
    return fail(err, CWY_ERR_UNSUPPORTED, "memory kind 'host' needs plugin interface 1");
  services = core;
  *module = &host_module;
  return CWY_OK;
}
