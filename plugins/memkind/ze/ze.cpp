// The Level Zero memory kind: device memory of oneAPI devices, through the Level Zero loader.
//
// SPDX-License-Identifier: BSD-3-Clause
//
// Copies go through immediate command lists of the kind's own, one per direction, on a copy engine
// where there is one; each signals an event that the host asks.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "../common/gpu.h"
#include "facts.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: ze\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: device memory of oneAPI Level Zero\n"
    "license: BSD-3-Clause\n");

namespace causeway {
namespace ze {
namespace {

cwy_status status_of(Result result) {
  switch (result) {
    case kSuccess:
      return CWY_OK;
    case kNotReady:
      return CWY_INPROGRESS;
    case kInvalidArgument:
    case kInvalidNullHandle:
    case kInvalidNullPointer:
    case kInvalidSize:
      return CWY_ERR_INVALID;
    case kOutOfHostMemory:
    case kOutOfDeviceMemory:
    case kUnsupportedSize:
      return CWY_ERR_NOMEM;
    case kDeviceLost:
    case kRequiresReset:
    case kUninitialized:
    case kUnknown:
      return CWY_ERR_DEVICE_FAILED;
    default:
      return CWY_ERR_UNSUPPORTED;
  }
}

std::string text_of(Result result) {
  char text[32];
  std::snprintf(text, sizeof text, "ze_result_t %#x", result);
  return text;
}
cwy_status fail(cwy_err* err, const char* call, Result result) {
  return report(err, status_of(result), "%s answers %#x", call, result);
}

struct Found {
  Handle driver, device;
};

// The form of `native` (causeway-memkind(7)).
struct Native {
  Handle device;
  Handle context;
  uint64_t memory_ordinal;
};

const Api& api() {
  static const Api instance{};
  return instance;
}

// Drivers without the PCI extension have "".
std::string path_of(Handle device) {
  PciProperties pci{};
  pci.stype = kTypePciProperties;
  if (api().zeDevicePciGetPropertiesExt == nullptr ||
      api().zeDevicePciGetPropertiesExt(device, &pci) != kSuccess)
    return "";
  char text[64];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device,
                pci.function);
  return text;
}

class ZeDriver final : public Driver {
 public:
  uint32_t kind_class() const override { return CWY_MEM_ZE; }
  const char* name() const override { return "memory kind 'ze'"; }

  std::string start() override {
    if (!api().lib.problem().empty()) return api().lib.problem();
    Result result = api().zeInit(0);
    if (result == kUnsupportedVersion)
      return "the driver is too old: it does not serve this loader";
    uint32_t drivers = 0;
    if (result == kSuccess) result = api().zeDriverGet(&drivers, nullptr);
    std::vector<Handle> handles(drivers);
    if (result == kSuccess) result = api().zeDriverGet(&drivers, handles.data());
    if (result != kSuccess) {
      char text[64];
      std::snprintf(text, sizeof text, "zeInit answers %#x", result);
      return text;
    }
    for (Handle driver_handle : handles) {
      uint32_t count = 0;
      if (api().zeDeviceGet(driver_handle, &count, nullptr) != kSuccess) continue;
      std::vector<Handle> devices(count);
      if (api().zeDeviceGet(driver_handle, &count, devices.data()) != kSuccess) continue;
      for (Handle device : devices) devices_.push_back({driver_handle, device});
    }
    return {};
  }

  cwy_status list(cwym_device_fn fn, void* arg, cwy_err* err) override {
    if (devices_.empty()) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
    for (size_t i = 0; i < devices_.size(); ++i) {
      DeviceProperties properties{};
      properties.stype = kTypeDeviceProperties;
      const bool known = api().zeDeviceGetProperties(devices_[i].device, &properties) == kSuccess;
      tell_device(fn, arg, static_cast<int32_t>(i), known ? properties.name : "unnamed",
                  path_of(devices_[i].device).c_str());
    }
    return CWY_OK;
  }

  cwy_status open(int32_t device, const void* native, uint64_t native_length, cwym_kind** out,
                  cwy_err* err) override;

  // Memory belongs to a context here, so each that kinds use is asked.
  bool find(uint64_t addr, Allocation* out) override {
    auto* const pointer = reinterpret_cast<void*>(addr);
    const std::lock_guard lock(contexts_mutex_);
    for (const auto& [context, users] : contexts_) {
      AllocationProperties properties;
      properties.stype = kTypeAllocationProperties;
      Handle device = nullptr;
      if (api().zeMemGetAllocProperties(context, pointer, &properties, &device) != kSuccess ||
          properties.type != kMemoryTypeDevice)
        continue;
      void* base = nullptr;
      size_t bytes = 0;
      if (api().zeMemGetAddressRange(context, pointer, &base, &bytes) != kSuccess) continue;
      *out = {reinterpret_cast<uint64_t>(base), bytes, ordinal_of(device)};
      return true;
    }
    return false;
  }

  int32_t ordinal_of(Handle device) const {
    for (size_t i = 0; i < devices_.size(); ++i)
      if (devices_[i].device == device) return static_cast<int32_t>(i);
    return -1;
  }
  void use(Handle context) {
    const std::lock_guard lock(contexts_mutex_);
    ++contexts_[context];
  }
  void unuse(Handle context) {
    const std::lock_guard lock(contexts_mutex_);
    if (--contexts_[context] == 0) contexts_.erase(context);
  }

 private:
  std::vector<Found> devices_;  // of all drivers; constant after start()
  std::mutex contexts_mutex_;
  std::map<Handle, unsigned> contexts_;  // with how many devices use them
};

ZeDriver& ze_driver() {
  static ZeDriver instance;
  return instance;
}

class ZeDevice final : public cwym_kind {
 public:
  ZeDevice(int32_t ordinal, Found found, uint32_t memory)
      : cwym_kind(ordinal), driver_(found.driver), device_(found.device), memory_(memory) {}

  // `context`: the client's, or NULL for one of the kind's own.
  cwy_status open(Handle context, cwy_err* err) {
    Result result = kSuccess;
    if (context != nullptr) {
      context_ = context;
    } else {
      ContextDesc desc;
      desc.stype = kTypeContextDesc;
      result = api().zeContextCreate(driver_, &desc, &context_);
      if (result != kSuccess) return fail(err, "zeContextCreate", result);
      own_context_ = true;
    }
    ze_driver().use(context_);
    QueueDesc desc;
    desc.stype = kTypeQueueDesc;
    desc.ordinal = copy_group();
    desc.mode = kModeAsynchronous;
    for (Handle& list : lists_) {
      result = api().zeCommandListCreateImmediate(context_, device_, &desc, &list);
      if (result == kSuccess) continue;
      list = nullptr;
      return fail(err, "zeCommandListCreateImmediate", result);
    }
    return CWY_OK;
  }
  ~ZeDevice() override {
    // Lists end what they have: an event behind each is waited for by whoever asked for the copy.
    for (Handle list : lists_)
      if (list != nullptr) api().zeCommandListDestroy(list);
    end_copies();
    for (Handle pool : pools_) api().zeEventPoolDestroy(pool);
    if (context_ == nullptr) return;
    ze_driver().unuse(context_);
    if (own_context_) api().zeContextDestroy(context_);
  }

  void describe(cwym_attr& attr) override {
    attr.alignment = 256;
    attr.export_forms |= CWY_FORM_DMABUF;
    uint32_t count = 0;
    if (api().zeDeviceGetMemoryProperties(device_, &count, nullptr) == kSuccess) {
      std::vector<MemoryProperties> all(count);
      for (MemoryProperties& m : all) m.stype = kTypeMemoryProperties;
      if (api().zeDeviceGetMemoryProperties(device_, &count, all.data()) == kSuccess &&
          memory_ < count)
        attr.total_bytes = all[memory_].bytes;
    }
  }

  cwy_status alloc(uint64_t length, void** out, cwy_err* err) override {
    // Exportable, so that a dma-buf of it can be had later.
    ExportDesc exported;
    exported.stype = kTypeExportDesc;
    exported.flags = kDmaBuf;
    DeviceMemAllocDesc desc;
    desc.stype = kTypeDeviceMemAllocDesc;
    desc.next = &exported;
    desc.ordinal = memory_;
    constexpr size_t kAlignment = 256;
    Result result = api().zeMemAllocDevice(context_, &desc, length, kAlignment, device_, out);
    if (result != kSuccess && status_of(result) == CWY_ERR_UNSUPPORTED) {
      desc.next = nullptr;
      result = api().zeMemAllocDevice(context_, &desc, length, kAlignment, device_, out);
    }
    if (result != kSuccess) return fail(err, "zeMemAllocDevice", result);
    const std::lock_guard lock(own_mutex_);
    own_[reinterpret_cast<uint64_t>(*out)];
    return CWY_OK;
  }
  // A handle goes back before its memory (zeMemPutIpcHandle). Those of the client's memory are left
  // to the driver, which ends them with the memory: nobody says when that is, and a handle that is
  // given back later may take the descriptor of another one with it, whose number is the same.
  cwy_status release(void* addr) override {
    {
      const std::lock_guard lock(own_mutex_);
      for (const IpcHandle& handle : own_[reinterpret_cast<uint64_t>(addr)])
        if (api().zeMemPutIpcHandle != nullptr) api().zeMemPutIpcHandle(context_, handle);
      own_.erase(reinterpret_cast<uint64_t>(addr));
    }
    return status_of(api().zeMemFree(context_, addr));
  }

  cwy_status export_ipc(uint64_t base, cwy_memref* out, cwy_err* err) override {
    IpcHandle handle{};
    const Result result = api().zeMemGetIpcHandle(context_, reinterpret_cast<void*>(base), &handle);
    if (result != kSuccess) return fail(err, "zeMemGetIpcHandle", result);
    {
      const std::lock_guard lock(own_mutex_);
      const auto own = own_.find(base);
      if (own != own_.end()) own->second.push_back(handle);
    }
    std::memcpy(out->ipc, handle.bytes, sizeof handle.bytes);
    out->ipc_len = sizeof handle.bytes;
    return CWY_OK;
  }
  cwy_status export_dmabuf(uint64_t addr, uint64_t, cwy_memref* out, cwy_err* err) override {
    ExportFd exported;
    exported.stype = kTypeExportFd;
    exported.flags = kDmaBuf;
    AllocationProperties properties;
    properties.stype = kTypeAllocationProperties;
    properties.next = &exported;
    Handle device = nullptr;
    auto* const pointer = reinterpret_cast<void*>(addr);
    Result result = api().zeMemGetAllocProperties(context_, pointer, &properties, &device);
    void* base = nullptr;
    size_t bytes = 0;
    if (result == kSuccess) result = api().zeMemGetAddressRange(context_, pointer, &base, &bytes);
    if (result != kSuccess) return fail(err, "zeMemGetAllocProperties", result);
    if (exported.fd < 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver gives no dma-buf");
    // The descriptor stays the driver's (zeMemGetAllocProperties gives the same one again).
    out->fd = ::fcntl(exported.fd, F_DUPFD_CLOEXEC, 0);
    if (out->fd < 0)
      return report(err, CWY_ERR_NOMEM, "a descriptor cannot be had: %s", std::strerror(errno));
    out->offset = addr - reinterpret_cast<uint64_t>(base);
    return CWY_OK;
  }

  // A handle that says whose it is goes to the driver as it is. Of an older one the descriptor is
  // fetched here, whose number is replaced: such drivers have no other way.
  cwy_status open_ipc(const cwy_memref& ref, void** base, cwy_err* err) override {
    IpcHandle handle{};
    if (ref.ipc_len != sizeof handle.bytes) {
      return report(err, CWY_ERR_INVALID, "a handle has %zu bytes, not %u", sizeof handle.bytes,
                    ref.ipc_len);
    }
    std::memcpy(handle.bytes, ref.ipc, sizeof handle.bytes);
    int fd = -1;
    uint32_t process_named = 0;
    std::memcpy(&fd, handle.bytes, sizeof fd);
    std::memcpy(&process_named, handle.bytes + kIpcProcess, sizeof process_named);
    const bool fetches = ref.pid != static_cast<uint32_t>(::getpid()) && process_named != ref.pid;
    if (fetches) {
      const auto process = static_cast<int>(::syscall(SYS_pidfd_open, ref.pid, 0));
      const int theirs = fd;
      fd = process < 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_getfd, process, theirs, 0));
      const int reason = errno;
      if (process >= 0) ::close(process);
      if (fd < 0) {
        return report(err, CWY_ERR_UNSUPPORTED, "descriptor %d of process %u cannot be fetched: %s",
                      theirs, ref.pid, std::strerror(reason));
      }
      std::memcpy(handle.bytes, &fd, sizeof fd);
    }
    const Result result = api().zeMemOpenIpcHandle(context_, device_, handle, 0, base);
    if (fetches) ::close(fd);  // the driver keeps its own
    return result == kSuccess ? CWY_OK : fail(err, "zeMemOpenIpcHandle", result);
  }
  void close_ipc(void* base) override { api().zeMemCloseIpcHandle(context_, base); }

  cwy_status pin(void*, uint64_t, cwy_err* err) override {
    return report(err, CWY_ERR_UNSUPPORTED, "Level Zero page-locks only memory of its own");
  }
  cwy_status unpin(void*) override { return CWY_ERR_UNSUPPORTED; }

  // From pools of kPool events.
  void* make_event(cwy_status* status) override {
    Result result = kSuccess;
    if (used_ == pools_.size() * kPool) {
      EventPoolDesc desc;
      desc.stype = kTypeEventPoolDesc;
      desc.flags = kPoolHostVisible;
      desc.count = kPool;
      Handle pool = nullptr;
      Handle which = device_;
      result = api().zeEventPoolCreate(context_, &desc, 1, &which, &pool);
      if (result == kSuccess) pools_.push_back(pool);
    }
    Handle event = nullptr;
    if (result == kSuccess) {
      EventDesc desc;
      desc.stype = kTypeEventDesc;
      desc.index = used_ % kPool;
      desc.signal = desc.wait = kScopeHost;
      result = api().zeEventCreate(pools_.back(), &desc, &event);
    }
    *status = status_of(result);
    if (result != kSuccess) return nullptr;
    ++used_;
    return event;
  }
  void free_event(void* event) override { api().zeEventDestroy(event); }
  cwy_status enqueue(Direction direction, void* dst, const void* src, uint64_t length,
                     void* event) override {
    Result result = api().zeEventHostReset(event);
    if (result == kSuccess) {
      result = api().zeCommandListAppendMemoryCopy(lists_[direction], dst, src, length, event, 0,
                                                   nullptr);
    }
    return status_of(result);
  }
  cwy_status poll(void* event, int32_t* result) override {
    const Result answer = api().zeEventQueryStatus(event);
    *result = static_cast<int32_t>(answer);
    return status_of(answer);
  }
  std::string words(int32_t result) const override { return text_of(static_cast<Result>(result)); }

 private:
  static constexpr uint32_t kPool = 64;

  // The first group whose engines only copy: later ones are those of links between devices, slow to
  // and from the host. Where there is none, the first one that computes.
  uint32_t copy_group() const {
    uint32_t count = 0;
    if (api().zeDeviceGetCommandQueueGroupProperties(device_, &count, nullptr) != kSuccess)
      return 0;
    std::vector<QueueGroupProperties> groups(count);
    for (QueueGroupProperties& g : groups) g.stype = kTypeQueueGroupProperties;
    if (api().zeDeviceGetCommandQueueGroupProperties(device_, &count, groups.data()) != kSuccess)
      return 0;
    uint32_t any = count;
    for (uint32_t i = 0; i < count; ++i) {
      if (!(groups[i].flags & (kGroupCopy | kGroupCompute)) || groups[i].queues == 0) continue;
      if (!(groups[i].flags & kGroupCompute)) return i;
      if (any == count) any = i;
    }
    return any == count ? 0 : any;
  }

  Handle driver_, device_;
  uint32_t memory_;
  Handle context_ = nullptr;
  bool own_context_ = false;
  Handle lists_[kDirections] = {};
  std::mutex own_mutex_;
  std::map<uint64_t, std::vector<IpcHandle>> own_;  // what alloc() gave, with its handles
  std::vector<Handle> pools_;
  uint32_t used_ = 0;  // events made so far
};

cwy_status ZeDriver::open(int32_t device, const void* native, uint64_t native_length,
                          cwym_kind** out, cwy_err* err) {
  if (devices_.empty()) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
  Native handles{nullptr, nullptr, 0};
  if (native_length != 0) {
    if (native_length != sizeof handles)
      return report(err, CWY_ERR_INVALID, "a native handle has %zu bytes", sizeof handles);
    std::memcpy(&handles, native, sizeof handles);
    device = ordinal_of(handles.device);
    if (device < 0) {
      return report(err, CWY_ERR_INVALID, "%p is no device handle of this process' drivers",
                    handles.device);
    }
  }
  if (device < 0 || static_cast<size_t>(device) >= devices_.size()) {
    return report(err, CWY_ERR_INVALID, "there is no device %d; devices are numbered 0 to %zu",
                  device, devices_.size() - 1);
  }
  const Found found = devices_[static_cast<size_t>(device)];
  uint32_t memories = 0;
  const Result result = api().zeDeviceGetMemoryProperties(found.device, &memories, nullptr);
  if (result != kSuccess) return fail(err, "zeDeviceGetMemoryProperties", result);
  if (handles.memory_ordinal >= memories) {
    return report(err, CWY_ERR_INVALID, "device %d has %u memories, and none with ordinal %llu",
                  device, memories, static_cast<unsigned long long>(handles.memory_ordinal));
  }
  return open_device(
      std::make_unique<ZeDevice>(device, found, static_cast<uint32_t>(handles.memory_ordinal)), out,
      handles.context, err);
}

}  // namespace
}  // namespace ze

Driver& driver() {
  return ze::ze_driver();
}

}  // namespace causeway
