// The CUDA memory kind: memory of NVIDIA devices with unified addressing, through the driver API.
//
// SPDX-License-Identifier: BSD-3-Clause
//
// The device's primary context is made current around each call that looks at it, and what was
// current before is restored. Copies go through streams of the kind's own, one per direction, so
// that both directions overlap and no work of the program's is waited for.
#include <cstdio>

#include "../common/gpu.h"
#include "../common/streams.h"
#include "facts.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: cuda\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: memory of NVIDIA devices, through the CUDA driver\n"
    "license: BSD-3-Clause\n");

namespace causeway {
namespace cuda {
namespace {

const Api& api() {
  static const Api instance{};
  return instance;
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
  struct Undisturbed {};
  static constexpr uint32_t kClass = CWY_MEM_CUDA;
  static constexpr const char *kName = "memory kind 'cuda'", *kResult = "CUresult",
                              *kCount = "cuDeviceGetCount";
  static constexpr const char *kMakeCurrent = "cuCtxPushCurrent", *kMakeStream = "cuStreamCreate",
                              *kAlloc = "cuMemAlloc", *kGetIpc = "cuIpcGetMemHandle",
                              *kOpenIpc = "cuIpcOpenMemHandle", *kLock = "cuMemHostRegister",
                              *kExportRange = "cuMemGetHandleForAddressRange";
  static constexpr Result kAlreadyLocked = kHostMemoryAlreadyRegistered,
                          kNotLocked = kHostMemoryNotRegistered, kRefused = kInvalidValue;
  static const char* words(Result result) {
    const char* words = nullptr;
    return api().cuGetErrorString(result, &words) == kSuccess ? words : nullptr;
  }
  static Result count(int* devices) { return api().cuDeviceGetCount(devices); }
  static void device_name(char* out, int room, int ordinal) {
    DeviceOrdinal device = 0;
    if (api().cuDeviceGet(&device, ordinal) == kSuccess) api().cuDeviceGetName(out, room, device);
  }
  static void device_path(char* out, int room, int ordinal) {
    DeviceOrdinal device = 0;
    int domain = 0, bus = 0, slot = 0;
    if (api().cuDeviceGet(&device, ordinal) == kSuccess &&
        api().cuDeviceGetAttribute(&domain, kAttributePciDomain, device) == kSuccess &&
        api().cuDeviceGetAttribute(&bus, kAttributePciBus, device) == kSuccess &&
        api().cuDeviceGetAttribute(&slot, kAttributePciDevice, device) == kSuccess)
      std::snprintf(out, static_cast<size_t>(room), "%04x:%02x:%02x.0", domain, bus, slot);
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
        address(p) - base >= length)
      return SIZE_MAX;
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
    return fail<Calls>(err, "cuDevicePrimaryCtxRetain", result);
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
    if (exports_dmabufs()) attr.export_forms |= CWY_FORM_DMABUF;
  }

  // So that the program's synchronous copies are complete when they return, also within the device
  // ("API synchronization behavior"): neither networks (GPUDirect RDMA, "Synchronization and Memory
  // Ordering") nor the kind's streams, which are non-blocking, nor those of a peer that opened the
  // memory wait for them. A driver that refuses leaves that to the program, as without this kind.
  void meet_segment(uint64_t addr) override {
    const Current current(where_);
    const unsigned on = 1;
    void* pool = nullptr;
    const bool marked = api().cuPointerSetAttribute(&on, kPointerSyncMemops, addr) == kSuccess;
    if (marked && (api().cuPointerGetAttribute(&pool, kPointerPool, addr) != kSuccess || !pool))
      return;
    // Mapped memory refuses the mark, and a pool's takes it and does without (seen with a driver of
    // CUDA 13.0): the context has it for all memory.
    unsigned flags = 0;
    if (api().cuCtxSetFlags == nullptr || api().cuCtxGetFlags(&flags) != kSuccess ||
        api().cuCtxSetFlags(flags | kContextSyncMemops) != kSuccess)
      gpu_services->log("cuda", CWY_LOG_WARN,
                        "a segment lies in memory of a pool, or mapped by the "
                        "program, and this driver (12.1 is needed) may return from copies to it "
                        "before they are complete: synchronise the stream before transfers");
  }

  cwy_status push() override { return status_of(api().cuCtxPushCurrent(where_)); }
  cwy_status pop() override {
    Context ours = nullptr;
    return status_of(api().cuCtxPopCurrent(&ours));
  }
  cwy_status flush() override {
    if (api().cuFlushGPUDirectRDMAWrites == nullptr ||
        !(attribute(kAttributeFlushOptions) & kFlushFromHost))
      return CWY_OK;  // nothing writes past the driver here
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

class CudaDriver final : public StreamDriver<Calls> {
 public:
  std::string start() override {
    if (!api().lib.problem().empty()) return api().lib.problem();
    const Result result = api().cuInit(0);
    if (result != kSuccess) return "cuInit: " + text_of<Calls>(result);
    int version = 0;
    api().cuDriverGetVersion(&version);
    if (version >= kLeastVersion) return {};
    return "the driver is too old: it serves CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10) + ", and 11.0 is needed";
  }

  cwy_status make(int32_t device, cwym_kind** out, cwy_err* err) override {
    DeviceOrdinal handle = 0;
    const Result got = api().cuDeviceGet(&handle, device);
    if (got != kSuccess) return fail<Calls>(err, "cuDeviceGet", got);
    int unified = 0;
    if (api().cuDeviceGetAttribute(&unified, kAttributeUnifiedAddressing, handle) != kSuccess ||
        unified == 0) {
      return report(err, CWY_ERR_INVALID,
                    "device %d has no unified addressing, which the class promises", device);
    }
    return open_device(std::make_unique<CudaDevice>(device, handle), out, err);
  }

  // A single call, which takes a third of the time of one for each; for memory that the driver does
  // not know it answers with nothing, and touches nothing.
  bool find(uint64_t addr, Allocation* out) override {
    unsigned type = 0;
    Pointer base = 0;
    size_t length = 0;
    int device = 0;
    int which[] = {kPointerMemoryType, kPointerRangeStart, kPointerRangeSize,
                   kPointerDeviceOrdinal};
    void* found[] = {&type, &base, &length, &device};
    if (api().cuPointerGetAttributes(4, which, found, addr) != kSuccess ||
        type != kMemoryTypeDevice)
      return false;
    *out = {base, length, device};
    return true;
  }
};

}  // namespace
}  // namespace cuda

Driver& driver() {
  static cuda::CudaDriver instance;
  return instance;
}

}  // namespace causeway
