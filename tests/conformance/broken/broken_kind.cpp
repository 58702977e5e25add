// A memory kind that breaks one promise on purpose, in front of the host's: BROKEN_INNER
// names that file, BROKEN_FAULT the fault, or none.
#include <causeway/memkind.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

CWY_MANIFEST(
    "{causeway_manifest: 1, kind: memkind, name: host, version: 1.0.0, api: '2.0', "
    "summary: memory of the host with a fault, options: {}}");

namespace {

const cwym_module* g_inner = nullptr;
cwym_module g_module;

cwy_status another_class(cwym_kind* kind, cwym_attr* attr) {
  const cwy_status status = g_inner->query(kind, attr);
  ++attr->kind_class;
  return status;
}

cwy_status any_device(const cwy_options* opts, int32_t device, const void* native, uint64_t length,
                      cwym_kind** out, cwy_err* err) {
  const cwy_status status = g_inner->create(opts, device, native, length, out, err);
  return status == CWY_OK ? status : g_inner->create(opts, -1, nullptr, 0, out, err);
}

// Keeps a byte of its own before each block.
cwy_status behind_a_byte(cwym_kind* kind, uint64_t length, void** out, cwy_err* err) {
  const cwy_status status = g_inner->alloc(kind, length + 1, out, err);
  if (status == CWY_OK) *out = static_cast<char*>(*out) + 1;
  return status;
}
cwy_status with_its_byte(cwym_kind* kind, void* addr) {
  return g_inner->release(kind, static_cast<char*>(addr) - 1);
}

cwy_status whole_words(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op) {
  return g_inner->copy(kind, dst, src, length / 4 * 4, op);
}

cwy_status owns_everything(const void*, uint64_t, int32_t* device) {
  *device = -1;
  return CWY_OK;
}

cwy_status says_no_form(cwym_kind* kind, cwym_attr* attr) {
  const cwy_status status = g_inner->query(kind, attr);
  attr->export_forms = 0;
  return status;
}

// The context of before has one place.
bool g_pushed = false;
cwy_status push_once(cwym_kind*) {
  const bool again = g_pushed;
  g_pushed = true;
  return again ? CWY_ERR_INVALID : CWY_OK;
}
cwy_status pop_once(cwym_kind*) {
  g_pushed = false;
  return CWY_OK;
}

bool apply(const std::string& fault) {
  if (fault == "another_class")
    g_module.query = another_class;
  else if (fault == "any_device")
    g_module.create = any_device;
  else if (fault == "behind_a_byte")
    g_module.alloc = behind_a_byte, g_module.release = with_its_byte;
  else if (fault == "whole_words")
    g_module.copy = whole_words;
  else if (fault == "owns_everything")
    g_module.who_owns = owns_everything;
  else if (fault == "says_no_form")
    g_module.query = says_no_form;
  else if (fault == "push_once")
    g_module.push = push_once, g_module.pop = pop_once;
  else
    return fault == "none";
  return true;
}

}  // namespace

extern "C" CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* services,
                                                  const cwym_module** module, cwy_err* err) {
  const char* path = std::getenv("BROKEN_INNER");
  const char* fault = std::getenv("BROKEN_FAULT");
  void* library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr || fault == nullptr) return CWY_ERR_INVALID;
  const auto init = reinterpret_cast<cwy_memkind_init_fn>(dlsym(library, CWY_MEMKIND_INIT_NAME));
  if (init == nullptr) return CWY_ERR_INVALID;
  const cwy_status status = init(services, &g_inner, err);
  if (status != CWY_OK) return status;
  g_module = *g_inner;
  *module = &g_module;
  return apply(fault) ? CWY_OK : CWY_ERR_INVALID;
}
