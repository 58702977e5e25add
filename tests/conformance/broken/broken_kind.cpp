// A memory kind that breaks one promise on purpose, in front of the host's: BROKEN_INNER
// names that file, BROKEN_FAULT the fault, or none.
#include <causeway/memkind.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

CWY_MANIFEST(
    "{causeway_manifest: 1, kind: memkind, name: host, version: 1.0.0, api: '2.0', "
    "summary: memory of the host with a fault, options: {}}");

namespace {

const cwym_module* g_inner = nullptr;
cwym_module g_module;

cwy_status another_device(cwym_kind* kind, cwym_attr* attr) {
  const cwy_status status = g_inner->query(kind, attr);
  ++attr->device;
  return status;
}

// A structure of this plugin's own size, whatever the caller's is.
template <class T>
void give_all(T& all, T* out) {
  all.head = out->head;
  std::memcpy(static_cast<void*>(out), &all, sizeof all);
}
cwy_status whole_attributes(cwym_kind* kind, cwym_attr* attr) {
  cwym_attr all{};
  all.head = CWY_HEAD(cwym_attr);
  const cwy_status status = g_inner->query(kind, &all);
  give_all(all, attr);
  return status;
}
cwy_status whole_exports(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                         cwy_memref* out, cwy_err* err) {
  cwy_memref all{};
  all.head = CWY_HEAD(cwy_memref);
  const cwy_status status = g_inner->export_mem(kind, addr, length, form, &all, err);
  if (status == CWY_OK) give_all(all, out);
  return status;
}

cwy_status wordless(cwym_device_fn fn, void* arg, cwy_err*) {
  const cwym_device device{CWY_HEAD(cwym_device), "", "", -1, -1};
  fn(arg, &device);
  return CWY_OK;
}
cwy_status listed_twice(cwym_device_fn fn, void* arg, cwy_err* err) {
  g_inner->list_devices(fn, arg, err);
  return g_inner->list_devices(fn, arg, err);
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

// A queue that is full every other time is no fault.
cwy_status busy(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op) {
  static bool full = false;
  full = !full;
  return full ? CWY_RETRY : g_inner->copy(kind, dst, src, length, op);
}

cwy_status empty_is_null(cwym_kind* kind, uint64_t length, void** out, cwy_err* err) {
  *out = nullptr;
  return length == 0 ? CWY_OK : g_inner->alloc(kind, length, out, err);
}
cwy_status null_is_refused(cwym_kind* kind, void* addr) {
  return addr == nullptr ? CWY_ERR_INVALID : g_inner->release(kind, addr);
}

cwy_status empty_is_nobodys(const void* addr, uint64_t length, int32_t* device) {
  return length == 0 ? CWY_ERR_INVALID : g_inner->who_owns(addr, length, device);
}
cwy_status empty_is_anybodys(const void* addr, uint64_t length, int32_t* device) {
  *device = -1;
  return length == 0 ? CWY_OK : g_inner->who_owns(addr, length, device);
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

cwy_status host_of_another_class(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                                 cwy_memref* out, cwy_err* err) {
  const cwy_status status = g_inner->export_mem(kind, addr, length, form, out, err);
  if (status == CWY_OK) ++out->kind_class;
  return status;
}

// Handles that hold an address of this process, which is the only one that opens them.
cwy_status has_handles(cwym_kind* kind, cwym_attr* attr) {
  const cwy_status status = g_inner->query(kind, attr);
  attr->export_forms |= CWY_FORM_IPC;
  attr->import_forms |= CWY_FORM_IPC;
  return status;
}
cwy_status makes_handles(cwym_kind* kind, void* addr, uint64_t length, uint32_t form,
                         cwy_memref* out, cwy_err* err) {
  if (form != CWY_FORM_IPC) return g_inner->export_mem(kind, addr, length, form, out, err);
  const cwy_status status = g_inner->export_mem(kind, addr, length, CWY_FORM_HOST_VA, out, err);
  out->form = form;
  out->pid = static_cast<uint32_t>(getpid());
  out->ipc_len = sizeof addr;
  std::memcpy(out->ipc, &addr, sizeof addr);
  return status;
}
cwy_status believes_handles(cwym_kind*, const cwy_memref* ref, cwym_import** out, void** addr,
                            cwy_err*) {
  std::memcpy(addr, ref->ipc, sizeof *addr);
  *out = static_cast<cwym_import*>(*addr);
  return CWY_OK;
}
cwy_status checks_handles(cwym_kind* kind, const cwy_memref* ref, cwym_import** out, void** addr,
                          cwy_err* err) {
  if (ref->form == CWY_FORM_IPC && ref->kind_class == CWY_MEM_HOST &&
      ref->ipc_len == sizeof *addr && ref->length <= 1 << 20)
    return believes_handles(kind, ref, out, addr, err);
  if (err != nullptr) {
    err->status = CWY_ERR_INVALID;
    std::strcpy(err->text, "this is no handle of the kind");
  }
  return CWY_ERR_INVALID;
}
cwy_status opens_elsewhere(cwym_kind* kind, const cwy_memref* ref, cwym_import** out, void** addr,
                           cwy_err* err) {
  const cwy_status status = checks_handles(kind, ref, out, addr, err);
  if (status == CWY_OK) *addr = static_cast<char*>(*addr) + 64;
  return status;
}
bool with_handles(decltype(cwym_module::import_mem) import_mem) {
  g_module.query = has_handles;
  g_module.export_mem = makes_handles;
  g_module.import_mem = import_mem;
  g_module.import_close = [](cwym_kind*, cwym_import*) {};
  return true;
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

// Faults at the edges of calls.
bool apply_another(const std::string& fault) {
  if (fault == "whole_attributes")
    g_module.query = whole_attributes;
  else if (fault == "whole_exports")
    g_module.export_mem = whole_exports;
  else if (fault == "wordless")
    g_module.list_devices = wordless;
  else if (fault == "listed_twice")
    g_module.list_devices = listed_twice;
  else if (fault == "busy")
    g_module.copy = busy;
  else if (fault == "empty_is_null")
    g_module.alloc = empty_is_null;
  else if (fault == "null_is_refused")
    g_module.release = null_is_refused;
  else if (fault == "empty_is_nobodys")
    g_module.who_owns = empty_is_nobodys;
  else if (fault == "empty_is_anybodys")
    g_module.who_owns = empty_is_anybodys;
  else if (fault == "host_of_another_class")
    g_module.export_mem = host_of_another_class;
  else if (fault == "checks_handles")
    return with_handles(checks_handles);
  else if (fault == "believes_handles")
    return with_handles(believes_handles);
  else if (fault == "opens_elsewhere")
    return with_handles(opens_elsewhere);
  else
    return fault == "none";
  return true;
}

bool apply(const std::string& fault) {
  if (fault == "another_device")
    g_module.query = another_device;
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
    return apply_another(fault);
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
