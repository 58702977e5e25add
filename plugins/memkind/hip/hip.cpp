// The HIP memory kind: memory of AMD devices, through the HIP runtime.
//
// SPDX-License-Identifier: BSD-3-Clause
//
// The device is made current around each call that looks at it, and what was current before is
// restored. Copies go through streams of the kind's own, one per direction.
#include <cstdio>

#include "../common/gpu.h"
#include "../common/library.h"
#include "../common/streams.h"
#include "facts.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: hip\n"
    "version: 1.0.0\n"
    "api: '1.0'\n"
    "min_core_minor: 0\n"
    "summary: memory of AMD devices, through the HIP runtime\n"
    "license: BSD-3-Clause\n");

namespace causeway {
namespace hip {
namespace {

cwy_status status_of(Result result) {
  switch (result) {
    case kSuccess:
      return CWY_OK;
    case kNotReady:
      return CWY_INPROGRESS;
    case kInvalidValue:
    case kInvalidDevice:
      return CWY_ERR_INVALID;
    case kOutOfMemory:
      return CWY_ERR_NOMEM;
    case kNotInitialized:
    case kDeinitialized:
    case kEccUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kLaunchFailure:
    case kUnknown:
      return CWY_ERR_DEVICE_FAILED;
    default:
      return CWY_ERR_UNSUPPORTED;
  }
}

// The runtime's library under the names its versions gave it, newest first.
const char* library_name() {
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    if (::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return name;
  }
  return "libamdhip64.so";
}

// A call of the kind leaves no answer behind as the thread's last error, where the program
// looks for its own ("Error handling": of any call of the thread, and "not ready" is one). An error
// that the program has not looked at yet stays, unless the kind's calls have another one.
class LastError {
 public:
  explicit LastError(const Api& api)
      : api_(api), was_clean_(api.hipPeekAtLastError() == kSuccess) {}
  ~LastError() {
    if (was_clean_ && api_.hipPeekAtLastError() != kSuccess) api_.hipGetLastError();
  }
  LastError(const LastError&) = delete;
  LastError& operator=(const LastError&) = delete;

 private:
  const Api& api_;
  const bool was_clean_;
};

class HipDriver final : public Driver {
 public:
  HipDriver() : library_(library_name()) {
    library_.need(api.hipGetErrorString, "hipGetErrorString");
    library_.need(api.hipGetLastError, "hipGetLastError");
    library_.need(api.hipPeekAtLastError, "hipPeekAtLastError");
    library_.need(api.hipRuntimeGetVersion, "hipRuntimeGetVersion");
    library_.need(api.hipGetDeviceCount, "hipGetDeviceCount");
    library_.need(api.hipDeviceGetName, "hipDeviceGetName");
    library_.need(api.hipDeviceTotalMem, "hipDeviceTotalMem");
    library_.need(api.hipDeviceGetPCIBusId, "hipDeviceGetPCIBusId");
    library_.need(api.hipGetDevice, "hipGetDevice");
    library_.need(api.hipSetDevice, "hipSetDevice");
    library_.need(api.hipMalloc, "hipMalloc");
    library_.need(api.hipFree, "hipFree");
    library_.need(api.hipMemcpyAsync, "hipMemcpyAsync");
    library_.need(api.hipPointerGetAttribute, "hipPointerGetAttribute");
    library_.need(api.hipMemGetAddressRange, "hipMemGetAddressRange");
    library_.need(api.hipStreamCreateWithFlags, "hipStreamCreateWithFlags");
    library_.need(api.hipStreamDestroy, "hipStreamDestroy");
    library_.need(api.hipStreamSynchronize, "hipStreamSynchronize");
    library_.need(api.hipEventCreateWithFlags, "hipEventCreateWithFlags");
    library_.need(api.hipEventDestroy, "hipEventDestroy");
    library_.need(api.hipEventRecord, "hipEventRecord");
    library_.need(api.hipEventQuery, "hipEventQuery");
    library_.need(api.hipIpcGetMemHandle, "hipIpcGetMemHandle");
    library_.need(api.hipIpcOpenMemHandle, "hipIpcOpenMemHandle");
    library_.need(api.hipIpcCloseMemHandle, "hipIpcCloseMemHandle");
    library_.need(api.hipHostRegister, "hipHostRegister");
    library_.need(api.hipHostUnregister, "hipHostUnregister");
    library_.want(api.hipMemGetHandleForAddressRange, "hipMemGetHandleForAddressRange");
  }

  uint32_t kind_class() const override { return CWY_MEM_HIP; }
  const char* name() const override { return "memory kind 'hip'"; }

  std::string text(Result result) const {
    const char* const words = api.hipGetErrorString(result);
    return std::string(words != nullptr ? words : "unknown") + " (hipError_t " +
           std::to_string(result) + ")";
  }
  cwy_status fail(cwy_err* err, const char* call, Result result) const {
    return report(err, status_of(result), "%s: %s", call, text(result).c_str());
  }

  std::string start() override {
    if (!library_.problem().empty()) return library_.problem();
    const LastError kept(api);
    int count = 0;
    const Result result = api.hipGetDeviceCount(&count);
    if (result != kSuccess) return "hipGetDeviceCount: " + text(result);
    api.hipRuntimeGetVersion(&version_);
    if (version_ >= kLeastVersion) return {};
    return "the driver is too old: the runtime's version is " + std::to_string(version_) +
           ", and 50000000 (5.0) is needed";
  }

  cwy_status list(cwym_device_fn fn, void* arg, cwy_err* err) override {
    const LastError kept(api);
    int count = 0;
    const Result result = api.hipGetDeviceCount(&count);
    if (result != kSuccess) return fail(err, "hipGetDeviceCount", result);
    if (count == 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
    for (int i = 0; i < count; ++i) {
      char device_name[128] = "unnamed";
      api.hipDeviceGetName(device_name, sizeof device_name, i);
      fn(arg, i, device_name);
    }
    return CWY_OK;
  }

  cwy_status open(int32_t device, const void* native, uint64_t native_length, cwym_kind** out,
                  cwy_err* err) override;

  // The range's size is asked for by a call of its own: the attribute's has been of 32 and of 64
  // bits.
  bool find(uint64_t addr, Allocation* out) override {
    const LastError kept(api);
    auto* const pointer = reinterpret_cast<void*>(addr);
    int type = -1, device = 0;
    void* base = nullptr;
    size_t length = 0;
    const int wanted = version_ >= kVersion6 ? kMemoryTypeDevice6 : kMemoryTypeDevice5;
    if (api.hipPointerGetAttribute(&type, kPointerMemoryType, pointer) != kSuccess ||
        type != wanted || api.hipMemGetAddressRange(&base, &length, pointer) != kSuccess ||
        api.hipPointerGetAttribute(&device, kPointerDeviceOrdinal, pointer) != kSuccess) {
      return false;
    }
    *out = {reinterpret_cast<uint64_t>(base), length, device};
    return true;
  }

  unsigned lazy_peer_access() const {
    return version_ >= kVersion6 ? kLazyPeerAccess6 : kLazyPeerAccess5;
  }

  Api api{};

 private:
  DriverLibrary library_;
  int version_ = 0;
};

HipDriver& hip_driver() {
  static HipDriver instance;
  return instance;
}
const Api& api() {
  return hip_driver().api;
}
cwy_status fail(cwy_err* err, const char* call, Result result) {
  return hip_driver().fail(err, call, result);
}

// The device is the calling thread's current one as long as the object lives.
class Current {
 public:
  explicit Current(int device) : kept_(api()) {
    if (api().hipGetDevice(&before_) != kSuccess) before_ = -1;
    if (before_ == device) {
      before_ = -1;
    } else {
      result_ = api().hipSetDevice(device);
    }
  }
  ~Current() {
    if (before_ >= 0) api().hipSetDevice(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  Result result() const { return result_; }

 private:
  const LastError kept_;  // first: goes last
  int before_ = -1;
  Result result_ = kSuccess;
};

// The calls of common/streams.h.
struct Calls {
  using Where = int;
  using Current = hip::Current;
  using IpcHandle = hip::IpcHandle;
  static constexpr const char *kMakeCurrent = "hipSetDevice",
                              *kMakeStream = "hipStreamCreateWithFlags", *kAlloc = "hipMalloc",
                              *kGetIpc = "hipIpcGetMemHandle", *kOpenIpc = "hipIpcOpenMemHandle",
                              *kLock = "hipHostRegister",
                              *kExportRange = "hipMemGetHandleForAddressRange";
  static constexpr Result kAlreadyLocked = kHostMemoryAlreadyRegistered,
                          kNotLocked = kHostMemoryNotRegistered, kRefused = kInvalidValue;
  static cwy_status status_of(Result result) { return hip::status_of(result); }
  static cwy_status fail(cwy_err* err, const char* call, Result result) {
    return hip::fail(err, call, result);
  }

  static Result alloc(void** out, size_t bytes) { return api().hipMalloc(out, bytes); }
  static Result release(void* p) { return api().hipFree(p); }
  static Result get_ipc(IpcHandle* handle, void* base) {
    return api().hipIpcGetMemHandle(handle, base);
  }
  static Result open_ipc(void** base, IpcHandle handle) {
    return api().hipIpcOpenMemHandle(base, handle, hip_driver().lazy_peer_access());
  }
  static void close_ipc(void* base) { api().hipIpcCloseMemHandle(base); }
  static Result export_range(int* fd, void* start, size_t bytes) {
    constexpr int kDmaBuf = 1;
    return api().hipMemGetHandleForAddressRange(fd, start, bytes, kDmaBuf, 0);
  }
  static Result lock(void* p, size_t bytes) {
    return api().hipHostRegister(p, bytes, kHostRegisterPortable);
  }
  static Result unlock(void* p) { return api().hipHostUnregister(p); }
  static size_t locked_bytes(const void* p) {
    void* base = nullptr;
    size_t length = 0;
    if (api().hipMemGetAddressRange(&base, &length, const_cast<void*>(p)) != kSuccess) {
      return SIZE_MAX;
    }
    const auto within = static_cast<size_t>(static_cast<const char*>(p) - static_cast<char*>(base));
    return within < length ? length - within : SIZE_MAX;
  }
  static Result make_stream(Stream* out) {
    return api().hipStreamCreateWithFlags(out, kStreamNonBlocking);
  }
  static void wait_stream(Stream stream) { api().hipStreamSynchronize(stream); }
  static void free_stream(Stream stream) { api().hipStreamDestroy(stream); }
  static Result make_event(Event* out) {
    return api().hipEventCreateWithFlags(out, kEventDisableTiming);
  }
  static void free_event(Event event) {
    const LastError kept(api());
    api().hipEventDestroy(event);
  }
  static Result record(Event event, Stream stream) { return api().hipEventRecord(event, stream); }
  static Result query(Event event) { return api().hipEventQuery(event); }
  static Result copy(void* dst, const void* src, size_t bytes, Stream stream) {
    return api().hipMemcpyAsync(dst, src, bytes, kCopyByAddress, stream);
  }
};

// The context that push() replaced, per thread; pairs nest.
thread_local std::vector<int> tls_before;

class HipDevice final : public StreamDevice<Calls> {
 public:
  explicit HipDevice(int32_t device) : StreamDevice(device) { where_ = device; }
  cwy_status open(cwy_err* err) { return open_streams(err); }
  ~HipDevice() override { close_streams(); }

  void describe(cwym_attr& attr) override {
    const LastError kept(api());
    attr.alignment = 256;
    size_t bytes = 0;
    if (api().hipDeviceTotalMem(&bytes, ordinal()) == kSuccess) attr.total_bytes = bytes;
    char text[64] = "";
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    if (api().hipDeviceGetPCIBusId(text, sizeof text, ordinal()) == kSuccess &&
        std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4) {
      attr.pci_domain = domain;
      attr.pci_bus = bus;
      attr.pci_device = device;
      attr.pci_function = function;
    }
    if (exports_dmabufs()) attr.export_forms |= CWY_FORM_DMABUF;
  }

  cwy_status push() override {
    const LastError kept(api());
    int before = 0;
    Result result = api().hipGetDevice(&before);
    if (result == kSuccess) result = api().hipSetDevice(ordinal());
    if (result == kSuccess) tls_before.push_back(before);
    return status_of(result);
  }
  cwy_status pop() override {
    if (tls_before.empty()) return CWY_ERR_INVALID;
    const LastError kept(api());
    const int before = tls_before.back();
    tls_before.pop_back();
    return status_of(api().hipSetDevice(before));
  }

 private:
  bool exports_dmabufs() const override { return api().hipMemGetHandleForAddressRange != nullptr; }
};

cwy_status HipDriver::open(int32_t device, const void*, uint64_t native_length, cwym_kind** out,
                           cwy_err* err) {
  const LastError kept(api);
  int count = 0;
  const Result counted = api.hipGetDeviceCount(&count);
  if (counted != kSuccess) return fail(err, "hipGetDeviceCount", counted);
  if (const cwy_status s = check_ordinal(device, count, native_length, err); s != CWY_OK) return s;
  return open_device(std::make_unique<HipDevice>(device), out, err);
}

}  // namespace
}  // namespace hip

Driver& driver() {
  return hip::hip_driver();
}

}  // namespace causeway
