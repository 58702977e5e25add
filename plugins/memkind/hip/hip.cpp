// The HIP memory kind: memory of AMD devices, through the HIP runtime.
//
// SPDX-License-Identifier: BSD-3-Clause
//
// The device is made current around each call that looks at it, and what was current before is
// restored. Copies go through streams of the kind's own, one per direction.
#include "../common/gpu.h"
#include "../common/streams.h"
#include "facts.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: hip\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: memory of AMD devices, through the HIP runtime\n"
    "license: BSD-3-Clause\n");

namespace causeway {
namespace hip {
namespace {

// The runtime's library under the names its versions gave it, newest first.
const char* library_name() {
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
    if (::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return name;
  return "libamdhip64.so";
}

const Api& api() {
  static const Api instance{DriverLibrary(library_name())};
  return instance;
}

// A call of the kind leaves no answer behind as the thread's last error, where the program
// looks for its own ("Error handling": of any call of the thread, and "not ready" is one). An error
// that the program has not looked at yet stays, unless the kind's calls have another one.
class LastError {
 public:
  LastError() : was_clean_(api().hipPeekAtLastError() == kSuccess) {}
  ~LastError() {
    if (was_clean_ && api().hipPeekAtLastError() != kSuccess) api().hipGetLastError();
  }
  LastError(const LastError&) = delete;
  LastError& operator=(const LastError&) = delete;

 private:
  const bool was_clean_;
};

// The runtime's, asked once.
int version() {
  static const int known = [] {
    int number = 0;
    api().hipRuntimeGetVersion(&number);
    return number;
  }();
  return known;
}

// The device is the calling thread's current one as long as the object lives.
class Current {
 public:
  explicit Current(int device) {
    if (api().hipGetDevice(&before_) != kSuccess) before_ = -1;
    if (before_ == device)
      before_ = -1;
    else
      result_ = api().hipSetDevice(device);
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
  using Undisturbed = LastError;
  static constexpr uint32_t kClass = CWY_MEM_HIP;
  static constexpr const char *kName = "memory kind 'hip'", *kResult = "hipError_t",
                              *kCount = "hipGetDeviceCount";
  static constexpr const char *kMakeCurrent = "hipSetDevice",
                              *kMakeStream = "hipStreamCreateWithFlags", *kAlloc = "hipMalloc",
                              *kGetIpc = "hipIpcGetMemHandle", *kOpenIpc = "hipIpcOpenMemHandle",
                              *kLock = "hipHostRegister",
                              *kExportRange = "hipMemGetHandleForAddressRange";
  static constexpr Result kAlreadyLocked = kHostMemoryAlreadyRegistered,
                          kNotLocked = kHostMemoryNotRegistered, kRefused = kInvalidValue;
  static const char* words(Result result) { return api().hipGetErrorString(result); }
  static Result count(int* devices) { return api().hipGetDeviceCount(devices); }
  static void device_name(char* out, int room, int ordinal) {
    api().hipDeviceGetName(out, room, ordinal);
  }
  static void device_path(char* out, int room, int ordinal) {
    if (api().hipDeviceGetPCIBusId(out, room, ordinal) != kSuccess) *out = '\0';
  }
  static Result alloc(void** out, size_t bytes) { return api().hipMalloc(out, bytes); }
  static Result release(void* p) { return api().hipFree(p); }
  static Result get_ipc(IpcHandle* handle, void* base) {
    return api().hipIpcGetMemHandle(handle, base);
  }
  static Result open_ipc(void** base, IpcHandle handle) {
    return api().hipIpcOpenMemHandle(base, handle,
                                     version() >= kVersion6 ? kLazyPeerAccess6 : kLazyPeerAccess5);
  }
  static void close_ipc(void* base) { api().hipIpcCloseMemHandle(base); }
  static Result export_range(int* fd, void* start, size_t bytes) {
    return api().hipMemGetHandleForAddressRange(fd, start, bytes, kHandleDmaBuf, 0);
  }
  static Result lock(void* p, size_t bytes) {
    return api().hipHostRegister(p, bytes, kHostRegisterPortable);
  }
  static Result unlock(void* p) { return api().hipHostUnregister(p); }
  static size_t locked_bytes(const void* p) {
    void* base = nullptr;
    size_t length = 0;
    if (api().hipMemGetAddressRange(&base, &length, const_cast<void*>(p)) != kSuccess)
      return SIZE_MAX;
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
    const LastError kept;
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
    const LastError kept;
    attr.alignment = 256;
    size_t bytes = 0;
    if (api().hipDeviceTotalMem(&bytes, ordinal()) == kSuccess) attr.total_bytes = bytes;
    if (exports_dmabufs()) attr.export_forms |= CWY_FORM_DMABUF;
  }

  cwy_status push() override {
    const LastError kept;
    int before = 0;
    Result result = api().hipGetDevice(&before);
    if (result == kSuccess) result = api().hipSetDevice(ordinal());
    if (result == kSuccess) tls_before.push_back(before);
    return status_of(result);
  }
  cwy_status pop() override {
    if (tls_before.empty()) return CWY_ERR_INVALID;
    const LastError kept;
    const int before = tls_before.back();
    tls_before.pop_back();
    return status_of(api().hipSetDevice(before));
  }

 private:
  bool exports_dmabufs() const override { return api().hipMemGetHandleForAddressRange != nullptr; }
};

class HipDriver final : public StreamDriver<Calls> {
 public:
  std::string start() override {
    if (!api().lib.problem().empty()) return api().lib.problem();
    const LastError kept;
    int count = 0;
    const Result result = api().hipGetDeviceCount(&count);
    if (result != kSuccess) return "hipGetDeviceCount: " + text_of<Calls>(result);
    if (version() >= kLeastVersion) return {};
    return "the driver is too old: the runtime's version is " + std::to_string(version()) +
           ", and 50000000 (5.0) is needed";
  }

  cwy_status make(int32_t device, cwym_kind** out, cwy_err* err) override {
    return open_device(std::make_unique<HipDevice>(device), out, err);
  }

  // The range's size is asked for by a call of its own: the attribute's has been of 32 and of 64
  // bits.
  bool find(uint64_t addr, Allocation* out) override {
    const LastError kept;
    auto* const pointer = reinterpret_cast<void*>(addr);
    int type = -1, device = 0;
    void* base = nullptr;
    size_t length = 0;
    const int wanted = version() >= kVersion6 ? kMemoryTypeDevice6 : kMemoryTypeDevice5;
    if (api().hipPointerGetAttribute(&type, kPointerMemoryType, pointer) != kSuccess ||
        type != wanted || api().hipMemGetAddressRange(&base, &length, pointer) != kSuccess ||
        api().hipPointerGetAttribute(&device, kPointerDeviceOrdinal, pointer) != kSuccess)
      return false;
    *out = {reinterpret_cast<uint64_t>(base), length, device};
    return true;
  }
};

}  // namespace
}  // namespace hip

Driver& driver() {
  static hip::HipDriver instance;
  return instance;
}

}  // namespace causeway
