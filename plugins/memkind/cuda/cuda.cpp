// The CUDA memory kind: memory of NVIDIA devices with unified addressing, through the driver API.
//
// SPDX-License-Identifier: BSD-3-Clause
//
// The device's primary context is made current around each call that looks at it, and what was
// current before is restored. Copies go through streams of the kind's own, one per direction, so
// that both directions overlap and no work of the program's is waited for.
#include "../common/gpu.h"
#include "../common/library.h"
#include "../common/streams.h"
#include "facts.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: cuda\n"
    "version: 1.0.0\n"
    "api: '1.0'\n"
    "min_core_minor: 0\n"
    "summary: memory of NVIDIA devices, through the CUDA driver\n"
    "license: BSD-3-Clause\n");

namespace causeway {
namespace cuda {
namespace {

class CudaDriver;
CudaDriver& cuda_driver();

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
    case kNotSupported:
    case kNoDevice:
      return CWY_ERR_UNSUPPORTED;
    case kNotInitialized:
    case kDeinitialized:
    case kDeviceUnavailable:
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
    case kUnknown:
      // Final for the context: a sticky error, a reset, a device that fell off its bus.
      return CWY_ERR_DEVICE_FAILED;
    default:
      return CWY_ERR_UNSUPPORTED;
  }
}

class CudaDriver final : public Driver {
 public:
  CudaDriver() : library_("libcuda.so.1") {
    library_.need(api.cuInit, "cuInit");
    library_.need(api.cuDriverGetVersion, "cuDriverGetVersion");
    library_.need(api.cuGetErrorString, "cuGetErrorString");
    library_.need(api.cuDeviceGetCount, "cuDeviceGetCount");
    library_.need(api.cuDeviceGet, "cuDeviceGet");
    library_.need(api.cuDeviceGetName, "cuDeviceGetName");
    library_.need(api.cuDeviceGetAttribute, "cuDeviceGetAttribute");
    library_.need(api.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
    library_.need(api.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    library_.need(api.cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
    library_.need(api.cuCtxPushCurrent, "cuCtxPushCurrent_v2");
    library_.need(api.cuCtxPopCurrent, "cuCtxPopCurrent_v2");
    library_.need(api.cuMemAlloc, "cuMemAlloc_v2");
    library_.need(api.cuMemFree, "cuMemFree_v2");
    library_.need(api.cuMemcpyAsync, "cuMemcpyAsync");
    library_.need(api.cuPointerGetAttribute, "cuPointerGetAttribute");
    library_.need(api.cuPointerSetAttribute, "cuPointerSetAttribute");
    library_.need(api.cuStreamCreate, "cuStreamCreate");
    library_.need(api.cuStreamDestroy, "cuStreamDestroy_v2");
    library_.need(api.cuStreamSynchronize, "cuStreamSynchronize");
    library_.need(api.cuEventCreate, "cuEventCreate");
    library_.need(api.cuEventDestroy, "cuEventDestroy_v2");
    library_.need(api.cuEventRecord, "cuEventRecord");
    library_.need(api.cuEventQuery, "cuEventQuery");
    library_.need(api.cuIpcGetMemHandle, "cuIpcGetMemHandle");
    library_.need(api.cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2");
    library_.need(api.cuIpcCloseMemHandle, "cuIpcCloseMemHandle");
    library_.need(api.cuMemHostRegister, "cuMemHostRegister_v2");
    library_.need(api.cuMemHostUnregister, "cuMemHostUnregister");
    library_.want(api.cuMemGetHandleForAddressRange, "cuMemGetHandleForAddressRange");
    library_.want(api.cuFlushGPUDirectRDMAWrites, "cuFlushGPUDirectRDMAWrites");
  }

  uint32_t kind_class() const override { return CWY_MEM_CUDA; }
  const char* name() const override { return "memory kind 'cuda'"; }

  std::string text(Result result) const {
    const char* words = nullptr;
    if (api.cuGetErrorString(result, &words) != kSuccess || words == nullptr) words = "unknown";
    return std::string(words) + " (CUresult " + std::to_string(result) + ")";
  }
  cwy_status fail(cwy_err* err, const char* call, Result result) const {
    return report(err, status_of(result), "%s: %s", call, text(result).c_str());
  }

  std::string start() override {
    if (!library_.problem().empty()) return library_.problem();
    const Result result = api.cuInit(0);
    if (result != kSuccess) return "cuInit: " + text(result);
    int version = 0;
    api.cuDriverGetVersion(&version);
    if (version >= kLeastVersion) return {};
    return "the driver is too old: it serves CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10) + ", and 11.0 is needed";
  }

  cwy_status list(cwym_device_fn fn, void* arg, cwy_err* err) override {
    int count = 0;
    const Result result = api.cuDeviceGetCount(&count);
    if (result != kSuccess) return fail(err, "cuDeviceGetCount", result);
    if (count == 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
    for (int i = 0; i < count; ++i) {
      DeviceOrdinal device = 0;
      char device_name[128] = "unnamed";
      if (api.cuDeviceGet(&device, i) == kSuccess) {
        api.cuDeviceGetName(device_name, sizeof device_name, device);
      }
      fn(arg, i, device_name);
    }
    return CWY_OK;
  }

  cwy_status open(int32_t device, const void* native, uint64_t native_length, cwym_kind** out,
                  cwy_err* err) override;

  bool find(uint64_t addr, Allocation* out) override {
    unsigned type = 0;
    // Fails for memory that the driver does not know, and touches nothing.
    if (api.cuPointerGetAttribute(&type, kPointerMemoryType, addr) != kSuccess ||
        type != kMemoryTypeDevice) {
      return false;
    }
    Pointer base = 0;
    size_t length = 0;
    int device = 0;
    if (api.cuPointerGetAttribute(&base, kPointerRangeStart, addr) != kSuccess ||
        api.cuPointerGetAttribute(&length, kPointerRangeSize, addr) != kSuccess ||
        api.cuPointerGetAttribute(&device, kPointerDeviceOrdinal, addr) != kSuccess) {
      return false;
    }
    *out = {base, length, device};
    return true;
  }

  Api api{};

 private:
  DriverLibrary library_;
};

CudaDriver& cuda_driver() {
  static CudaDriver instance;
  return instance;
}

const Api& api() {
  return cuda_driver().api;
}
cwy_status fail(cwy_err* err, const char* call, Result result) {
  return cuda_driver().fail(err, call, result);
}

// The context is the calling thread's current one as long as the object lives.
class Current {
 public:
  explicit Current(Context context) : result_(api().cuCtxPushCurrent(context)) {}
  ~Current() {
    Context ours = nullptr;
    if (result_ == kSuccess) api().cuCtxPopCurrent(&ours);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  Result result() const { return result_; }

 private:
  Result result_;
};

// The calls of common/streams.h.
struct Calls {
  using Where = Context;
  using Current = cuda::Current;
  using IpcHandle = cuda::IpcHandle;
  static constexpr const char *kMakeCurrent = "cuCtxPushCurrent", *kMakeStream = "cuStreamCreate",
                              *kAlloc = "cuMemAlloc", *kGetIpc = "cuIpcGetMemHandle",
                              *kOpenIpc = "cuIpcOpenMemHandle", *kLock = "cuMemHostRegister",
                              *kExportRange = "cuMemGetHandleForAddressRange";
  static constexpr Result kAlreadyLocked = kHostMemoryAlreadyRegistered,
                          kNotLocked = kHostMemoryNotRegistered, kRefused = kInvalidValue;
  static cwy_status status_of(Result result) { return cuda::status_of(result); }
  static cwy_status fail(cwy_err* err, const char* call, Result result) {
    return cuda::fail(err, call, result);
  }
  static Pointer address(const void* p) { return reinterpret_cast<Pointer>(p); }

  // Whole blocks: the driver makes smaller allocations parts of one, an IPC handle opens all of it,
  // and a second handle into it may be refused ("Interprocess Communication").
  static Result alloc(void** out, size_t bytes) {
    constexpr size_t kBlock = size_t{2} << 20;
    if (bytes > SIZE_MAX - kBlock) return kOutOfMemory;
    Pointer pointer = 0;
    const Result result = api().cuMemAlloc(&pointer, (bytes + kBlock - 1) / kBlock * kBlock);
    if (result == kSuccess) *out = reinterpret_cast<void*>(pointer);
    return result;
  }
  static Result release(void* p) { return api().cuMemFree(address(p)); }
  static Result get_ipc(IpcHandle* handle, void* base) {
    return api().cuIpcGetMemHandle(handle, address(base));
  }
  static Result open_ipc(void** base, IpcHandle handle) {
    Pointer pointer = 0;
    const Result result = api().cuIpcOpenMemHandle(&pointer, handle, kIpcLazyPeerAccess);
    if (result == kSuccess) *base = reinterpret_cast<void*>(pointer);
    return result;
  }
  static void close_ipc(void* base) { api().cuIpcCloseMemHandle(address(base)); }
  static Result export_range(int* fd, void* start, size_t bytes) {
    return api().cuMemGetHandleForAddressRange(fd, address(start), bytes, kHandleDmaBuf, 0);
  }
  static Result lock(void* p, size_t bytes) {
    return api().cuMemHostRegister(p, bytes, kHostRegisterPortable);
  }
  static Result unlock(void* p) { return api().cuMemHostUnregister(p); }
  static size_t locked_bytes(const void* p) {
    Pointer base = 0;
    size_t length = 0;
    if (api().cuPointerGetAttribute(&base, kPointerRangeStart, address(p)) != kSuccess ||
        api().cuPointerGetAttribute(&length, kPointerRangeSize, address(p)) != kSuccess ||
        address(p) - base >= length) {
      return SIZE_MAX;
    }
    return length - (address(p) - base);
  }
  static Result make_stream(Stream* out) { return api().cuStreamCreate(out, kStreamNonBlocking); }
  static void wait_stream(Stream stream) { api().cuStreamSynchronize(stream); }
  static void free_stream(Stream stream) { api().cuStreamDestroy(stream); }
  static Result make_event(Event* out) { return api().cuEventCreate(out, kEventDisableTiming); }
  static void free_event(Event event) { api().cuEventDestroy(event); }
  static Result record(Event event, Stream stream) { return api().cuEventRecord(event, stream); }
  static Result query(Event event) { return api().cuEventQuery(event); }
  static Result copy(void* dst, const void* src, size_t bytes, Stream stream) {
    return api().cuMemcpyAsync(address(dst), address(src), bytes, stream);
  }
};

class CudaDevice final : public StreamDevice<Calls> {
 public:
  CudaDevice(int32_t ordinal, DeviceOrdinal device) : StreamDevice(ordinal), device_(device) {}

  cwy_status open(cwy_err* err) {
    const Result result = api().cuDevicePrimaryCtxRetain(&where_, device_);
    if (result == kSuccess) return open_streams(err);
    where_ = nullptr;
    return fail(err, "cuDevicePrimaryCtxRetain", result);
  }
  ~CudaDevice() override {
    if (where_ == nullptr) return;
    close_streams();
    api().cuDevicePrimaryCtxRelease(device_);
  }

  void describe(cwym_attr& attr) override {
    attr.alignment = 256;
    size_t bytes = 0;
    if (api().cuDeviceTotalMem(&bytes, device_) == kSuccess) attr.total_bytes = bytes;
    attr.pci_domain = static_cast<uint32_t>(attribute(kAttributePciDomain));
    attr.pci_bus = static_cast<uint32_t>(attribute(kAttributePciBus));
    attr.pci_device = static_cast<uint32_t>(attribute(kAttributePciDevice));
    attr.pci_function = 0;
    if (exports_dmabufs()) attr.export_forms |= CWY_FORM_DMABUF;
  }

  // So that the program's synchronous copies are complete when they return, also within the device
  // ("API synchronization behavior"): neither networks (GPUDirect RDMA, "Synchronization and Memory
  // Ordering") nor the kind's streams, which are non-blocking, nor those of a peer that opened the
  // memory wait for them. A driver that refuses leaves that to the program, as without this kind.
  void meet_segment(uint64_t addr) override {
    const Current current(where_);
    const unsigned on = 1;
    api().cuPointerSetAttribute(&on, kPointerSyncMemops, addr);
  }

  cwy_status push() override { return status_of(api().cuCtxPushCurrent(where_)); }
  cwy_status pop() override {
    Context ours = nullptr;
    return status_of(api().cuCtxPopCurrent(&ours));
  }
  cwy_status flush() override {
    if (api().cuFlushGPUDirectRDMAWrites == nullptr ||
        !(attribute(kAttributeFlushOptions) & kFlushFromHost)) {
      return CWY_OK;  // nothing writes past the driver here
    }
    const Current current(where_);
    return status_of(
        api().cuFlushGPUDirectRDMAWrites(kFlushTargetCurrentContext, kFlushToAllDevices));
  }

 private:
  int attribute(int which) const {
    int value = 0;
    return api().cuDeviceGetAttribute(&value, which, device_) == kSuccess ? value : 0;
  }
  bool exports_dmabufs() const override {
    return api().cuMemGetHandleForAddressRange != nullptr && attribute(kAttributeDmaBuf) != 0;
  }

  DeviceOrdinal device_;
};

cwy_status CudaDriver::open(int32_t device, const void*, uint64_t native_length, cwym_kind** out,
                            cwy_err* err) {
  int count = 0;
  const Result counted = api.cuDeviceGetCount(&count);
  if (counted != kSuccess) return fail(err, "cuDeviceGetCount", counted);
  if (const cwy_status s = check_ordinal(device, count, native_length, err); s != CWY_OK) return s;
  DeviceOrdinal handle = 0;
  const Result got = api.cuDeviceGet(&handle, device);
  if (got != kSuccess) return fail(err, "cuDeviceGet", got);
  int unified = 0;
  if (api.cuDeviceGetAttribute(&unified, kAttributeUnifiedAddressing, handle) != kSuccess ||
      unified == 0) {
    return report(err, CWY_ERR_INVALID,
                  "device %d has no unified addressing, which the class promises", device);
  }
  return open_device(std::make_unique<CudaDevice>(device, handle), out, err);
}

}  // namespace
}  // namespace cuda

Driver& driver() {
  return cuda::cuda_driver();
}

}  // namespace causeway
