// The CUDA memory kind: memory of NVIDIA devices with unified addressing, through the driver API.
//
// SPDX-License-Identifier: BSD-3-Clause
//
// The device's primary context is made current around each call that looks at it, and what was
// current before is restored. Copies go through streams of the kind's own, one per direction, so
// that both directions overlap and no work of the program's is waited for.
#include <unistd.h>

#include <cstring>

#include "../common/gpu.h"
#include "../common/library.h"
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
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
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

class CudaDevice final : public cwym_kind {
 public:
  CudaDevice(int32_t ordinal, DeviceOrdinal device) : cwym_kind(ordinal), device_(device) {}

  cwy_status open(cwy_err* err) {
    Result result = api().cuDevicePrimaryCtxRetain(&context_, device_);
    if (result != kSuccess) {
      context_ = nullptr;
      return fail(err, "cuDevicePrimaryCtxRetain", result);
    }
    const Current current(context_);
    if (current.result() != kSuccess) return fail(err, "cuCtxPushCurrent", current.result());
    for (Stream& stream : streams_) {
      result = api().cuStreamCreate(&stream, kStreamNonBlocking);
      if (result == kSuccess) continue;
      stream = nullptr;
      return fail(err, "cuStreamCreate", result);
    }
    return CWY_OK;
  }

  ~CudaDevice() override {
    if (context_ == nullptr) return;
    {
      const Current current(context_);
      for (Stream stream : streams_) {
        if (stream == nullptr) continue;
        if (!lost()) api().cuStreamSynchronize(stream);
        api().cuStreamDestroy(stream);
      }
      end_copies();
    }
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
    if (has_dmabuf()) attr.export_forms |= CWY_FORM_DMABUF;
  }

  cwy_status alloc(uint64_t length, void** out, cwy_err* err) override {
    const Current current(context_);
    Pointer pointer = 0;
    const Result result = api().cuMemAlloc(&pointer, length);
    if (result != kSuccess) return fail(err, "cuMemAlloc", result);
    *out = reinterpret_cast<void*>(pointer);
    return CWY_OK;
  }
  cwy_status release(void* addr) override {
    const Current current(context_);
    return status_of(api().cuMemFree(reinterpret_cast<Pointer>(addr)));
  }

  cwy_status export_ipc(uint64_t base, cwy_memref* out, cwy_err* err) override {
    const Current current(context_);
    IpcHandle handle{};
    const Result result = api().cuIpcGetMemHandle(&handle, base);
    if (result != kSuccess) return fail(err, "cuIpcGetMemHandle", result);
    std::memcpy(out->ipc, handle.bytes, sizeof handle.bytes);
    out->ipc_len = sizeof handle.bytes;
    return CWY_OK;
  }
  cwy_status export_dmabuf(uint64_t addr, uint64_t length, cwy_memref* out, cwy_err* err) override {
    if (!has_dmabuf()) {
      return report(err, CWY_ERR_UNSUPPORTED, "this driver or device exports no dma-buf");
    }
    // The driver takes whole pages.
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t start = addr / page * page;
    const uint64_t bytes = (addr + length - start + page - 1) / page * page;
    const Current current(context_);
    const Result result =
        api().cuMemGetHandleForAddressRange(&out->fd, start, bytes, kHandleDmaBuf, 0);
    if (result != kSuccess) return fail(err, "cuMemGetHandleForAddressRange", result);
    out->offset = addr - start;
    return CWY_OK;
  }
  cwy_status open_ipc(const cwy_memref& ref, void** base, cwy_err* err) override {
    IpcHandle handle{};
    if (ref.ipc_len != sizeof handle.bytes) {
      return report(err, CWY_ERR_INVALID, "a handle has %zu bytes, not %u", sizeof handle.bytes,
                    ref.ipc_len);
    }
    std::memcpy(handle.bytes, ref.ipc, sizeof handle.bytes);
    const Current current(context_);
    Pointer pointer = 0;
    const Result result = api().cuIpcOpenMemHandle(&pointer, handle, kIpcLazyPeerAccess);
    if (result != kSuccess) return fail(err, "cuIpcOpenMemHandle", result);
    *base = reinterpret_cast<void*>(pointer);
    return CWY_OK;
  }
  void close_ipc(void* base) override {
    const Current current(context_);
    api().cuIpcCloseMemHandle(reinterpret_cast<Pointer>(base));
  }

  cwy_status pin(void* addr, uint64_t length, cwy_err* err) override {
    const Current current(context_);
    const Result result = api().cuMemHostRegister(addr, length, kHostRegisterPortable);
    if (result == kSuccess || result == kHostMemoryAlreadyRegistered) return CWY_OK;
    return fail(err, "cuMemHostRegister", result);
  }
  cwy_status unpin(void* addr) override {
    const Current current(context_);
    const Result result = api().cuMemHostUnregister(addr);
    return result == kHostMemoryNotRegistered ? CWY_ERR_INVALID : status_of(result);
  }

  cwy_status push() override { return status_of(api().cuCtxPushCurrent(context_)); }
  cwy_status pop() override {
    Context ours = nullptr;
    return status_of(api().cuCtxPopCurrent(&ours));
  }
  cwy_status flush() override {
    if (api().cuFlushGPUDirectRDMAWrites == nullptr ||
        !(attribute(kAttributeFlushOptions) & kFlushFromHost)) {
      return CWY_OK;  // nothing writes past the driver here
    }
    const Current current(context_);
    return status_of(
        api().cuFlushGPUDirectRDMAWrites(kFlushTargetCurrentContext, kFlushToAllDevices));
  }

  void* make_event(cwy_status* status) override {
    const Current current(context_);
    Event event = nullptr;
    *status = status_of(api().cuEventCreate(&event, kEventDisableTiming));
    return *status == CWY_OK ? event : nullptr;
  }
  void free_event(void* event) override { api().cuEventDestroy(event); }
  cwy_status enqueue(Direction direction, void* dst, const void* src, uint64_t length,
                     void* event) override {
    const Current current(context_);
    if (current.result() != kSuccess) return status_of(current.result());
    const Result result =
        api().cuMemcpyAsync(reinterpret_cast<Pointer>(dst), reinterpret_cast<Pointer>(src), length,
                            streams_[direction]);
    if (result != kSuccess) return status_of(result);
    return status_of(api().cuEventRecord(event, streams_[direction]));
  }
  cwy_status poll(void* event) override { return status_of(api().cuEventQuery(event)); }

 private:
  int attribute(int which) const {
    int value = 0;
    return api().cuDeviceGetAttribute(&value, which, device_) == kSuccess ? value : 0;
  }
  bool has_dmabuf() const {
    return api().cuMemGetHandleForAddressRange != nullptr && attribute(kAttributeDmaBuf) != 0;
  }

  DeviceOrdinal device_;
  Context context_ = nullptr;
  Stream streams_[kDirections] = {};
};

cwy_status CudaDriver::open(int32_t device, const void*, uint64_t native_length, cwym_kind** out,
                            cwy_err* err) {
  if (native_length != 0) {
    return report(err, CWY_ERR_INVALID, "this kind takes no native handle");
  }
  int count = 0;
  const Result counted = api.cuDeviceGetCount(&count);
  if (counted != kSuccess) return fail(err, "cuDeviceGetCount", counted);
  if (count == 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
  if (device < 0 || device >= count) {
    return report(err, CWY_ERR_INVALID, "there is no device %d; devices are numbered 0 to %d",
                  device, count - 1);
  }
  DeviceOrdinal handle = 0;
  const Result got = api.cuDeviceGet(&handle, device);
  if (got != kSuccess) return fail(err, "cuDeviceGet", got);
  int unified = 0;
  if (api.cuDeviceGetAttribute(&unified, kAttributeUnifiedAddressing, handle) != kSuccess ||
      unified == 0) {
    return report(err, CWY_ERR_INVALID,
                  "device %d has no unified addressing, which the class promises", device);
  }
  auto opened = std::make_unique<CudaDevice>(device, handle);
  const cwy_status status = opened->open(err);
  if (status == CWY_OK) *out = opened.release();
  return status;
}

}  // namespace
}  // namespace cuda

Driver& driver() {
  return cuda::cuda_driver();
}

}  // namespace causeway

extern "C" CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* services,
                                                  const cwym_module** module, cwy_err* err) {
  return causeway::guarded(err, [&] { return causeway::start_gpu_plugin(services, module, err); });
}
