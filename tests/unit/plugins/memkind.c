/* A memory kind with the required members only, or with one of them missing. */
#include <causeway/memkind.h>

CWY_MANIFEST("causeway_manifest: 1\nkind: memkind\nname: " VARIANT_NAME
             "\nversion: 1.0.0\napi: '2.0'\n");

static cwy_status list_devices(cwym_device_fn fn, void* arg, cwy_err* err) {
  (void)fn, (void)arg, (void)err;
  return CWY_OK;
}
static cwy_status create(const cwy_options* opts, int32_t device, const void* native,
                         uint64_t native_len, cwym_kind** out, cwy_err* err) {
  (void)opts, (void)device, (void)native, (void)native_len, (void)out, (void)err;
  return CWY_ERR_UNSUPPORTED;
}
static void destroy(cwym_kind* kind) {
  (void)kind;
}
static cwy_status query(cwym_kind* kind, cwym_attr* attr) {
  (void)kind, (void)attr;
  return CWY_OK;
}
static cwy_status who_owns(const void* addr, uint64_t length, int32_t* device) {
  (void)addr, (void)length, (void)device;
  return CWY_ERR_INVALID;
}
#ifndef VARIANT_HOLLOW
static cwy_status copy(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op) {
  (void)kind, (void)dst, (void)src, (void)length, (void)op;
  return CWY_ERR_UNSUPPORTED;
}
#endif

static const cwym_module module = {
    .head = CWY_HEAD(cwym_module),
    .list_devices = list_devices,
    .create = create,
    .destroy = destroy,
    .query = query,
    .who_owns = who_owns,
#ifndef VARIANT_HOLLOW
    .copy = copy,
#endif
};

CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** out,
                                       cwy_err* err);

cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** out, cwy_err* err) {
  (void)core, (void)err;
  *out = &module;
  return CWY_OK;
}
