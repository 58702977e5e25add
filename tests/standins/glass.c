/* glass: a memory kind for tests, of ordinary memory that is called a device's. Class HOST in form
 * DEVICE_VA, so that a conduit takes it for memory of a device that its library must be told of,
 * and any library can: libfabric's interface is FI_HMEM_SYSTEM then. What the core and the conduit
 * do for native transfers runs; what a library does with a real device, this does not show.
 *
 * Memory of the kind has addresses from kBase on, whoever maps it (tests/spec/mk/glass_access.cpp).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include "glass.h"

#include <causeway/memkind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: glass\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: ordinary memory that is called a device's (for tests)\n"
    "license: BSD-3-Clause\n");

struct cwym_kind {
  int unused;
};

static cwy_status fail(cwy_err* err, cwy_status status, const char* text) {
  err->status = status;
  snprintf(err->text, sizeof err->text, "%s", text);
  return status;
}

static cwy_status list(cwym_device_fn fn, void* arg, cwy_err* err) {
  (void)err;
  const cwym_device device = {CWY_HEAD(cwym_device), "ordinary memory", "", 0, -1};
  fn(arg, &device);
  return CWY_OK;
}
static cwy_status create(const cwy_options* opts, int32_t device, const void* native,
                         uint64_t native_len, cwym_kind** out, cwy_err* err) {
  (void)opts;
  (void)native;
  if (device != 0 || native_len != 0) return fail(err, CWY_ERR_INVALID, "there is device 0 only");
  *out = calloc(1, sizeof **out);
  return *out != NULL ? CWY_OK : fail(err, CWY_ERR_NOMEM, "no memory");
}
static void destroy(cwym_kind* kind) {
  free(kind);
}
/* As much of `all` as the caller's structure has room for. The head stays the caller's. */
static void give(void* to, const void* all, size_t size) {
  const cwy_head head = *(const cwy_head*)to;
  memcpy(to, all, head.struct_size < size ? head.struct_size : size);
  *(cwy_head*)to = head;
}
static cwy_status query(cwym_kind* kind, cwym_attr* attr) {
  (void)kind;
  const cwym_attr all = {
      .kind_class = CWY_MEM_HOST, .export_forms = CWY_FORM_DEVICE_VA, .alignment = 4096};
  give(attr, &all, sizeof all);
  return CWY_OK;
}
static cwy_status who_owns(const void* addr, uint64_t length, int32_t* device) {
  if (!glass_holds(addr, length)) return CWY_ERR_INVALID;
  *device = 0;
  return CWY_OK;
}
static cwy_status alloc(cwym_kind* kind, uint64_t length, void** out, cwy_err* err) {
  (void)kind;
  *out = glass_map(length);
  return *out != NULL ? CWY_OK : fail(err, CWY_ERR_NOMEM, "no pane is that large");
}
static cwy_status release(cwym_kind* kind, void* addr) {
  (void)kind;
  glass_unmap(addr);
  return CWY_OK;
}
static cwy_status export_mem(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                             cwy_memref* out, cwy_err* err) {
  (void)kind;
  if (form != CWY_FORM_DEVICE_VA) return fail(err, CWY_ERR_UNSUPPORTED, "form DEVICE_VA only");
  const cwy_memref all = {.form = form,
                          .kind_class = CWY_MEM_HOST,
                          .addr = (uint64_t)(uintptr_t)addr,
                          .length = length,
                          .fd = -1};
  give(out, &all, sizeof all);
  return CWY_OK;
}
static cwy_status copy(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op) {
  (void)kind;
  (void)op;
  if (length != 0) memcpy(dst, src, length);
  return CWY_OK;
}

static const cwym_module glass = {.head = CWY_HEAD(cwym_module),
                                  .list_devices = list,
                                  .create = create,
                                  .destroy = destroy,
                                  .query = query,
                                  .who_owns = who_owns,
                                  .alloc = alloc,
                                  .release = release,
                                  .export_mem = export_mem,
                                  .copy = copy};

CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** module,
                                       cwy_err* err);
cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** module, cwy_err* err) {
  (void)core;
  (void)err;
  *module = &glass;
  return CWY_OK;
}
