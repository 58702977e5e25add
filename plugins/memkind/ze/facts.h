// Facts of Level Zero that the kind relies on: types, numbers and signatures of the entry points of
// libze_loader.so.1, from the public specification of Level Zero 1.x. No installation is needed.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "../common/library.h"

namespace causeway::ze {

using Result = uint32_t;  // ze_result_t
using Handle = void*;

enum : Result {
  kSuccess = 0,
  kNotReady = 1,
  kDeviceLost = 0x70000001,
  kOutOfHostMemory = 0x70000002,
  kOutOfDeviceMemory = 0x70000003,
  kRequiresReset = 0x70000006,
  kUninitialized = 0x78000001,
  kUnsupportedVersion = 0x78000002,
  kInvalidArgument = 0x78000004,
  kInvalidNullHandle = 0x78000005,
  kInvalidNullPointer = 0x78000007,
  kInvalidSize = 0x78000008,
  kUnsupportedSize = 0x78000009,
  kUnknown = 0x7ffffffe
};

enum : uint32_t {  // ze_structure_type_t
  kTypeDeviceProperties = 0x3,
  kTypeQueueGroupProperties = 0x6,
  kTypeMemoryProperties = 0x7,
  kTypeContextDesc = 0xd,
  kTypeQueueDesc = 0xe,
  kTypeEventPoolDesc = 0x10,
  kTypeEventDesc = 0x11,
  kTypeDeviceMemAllocDesc = 0x15,
  kTypeAllocationProperties = 0x17,
  kTypeExportDesc = 0x18,
  kTypeExportFd = 0x1a,
  kTypePciProperties = 0x10008
};

// The structures, with the members in the specification's order.
struct Head {
  uint32_t stype = 0;
  const void* next = nullptr;
};
struct DeviceProperties : Head {
  uint32_t type, vendor, device, flags, subdevice, clock;
  uint64_t max_alloc;
  uint32_t contexts, priorities, threads, width, units, subslices, slices;
  uint64_t timer;
  uint32_t timestamp_bits, kernel_timestamp_bits;
  uint8_t uuid[16];
  char name[256];
};
struct MemoryProperties : Head {
  uint32_t flags, clock, width;
  uint64_t bytes;
  char name[256];
};
struct QueueGroupProperties : Head {
  uint32_t flags;
  size_t max_pattern;
  uint32_t queues;
};
struct ContextDesc : Head {
  uint32_t flags = 0;
};
struct QueueDesc : Head {
  uint32_t ordinal = 0, index = 0, flags = 0, mode = 0, priority = 0;
};
struct EventPoolDesc : Head {
  uint32_t flags = 0, count = 0;
};
struct EventDesc : Head {
  uint32_t index = 0, signal = 0, wait = 0;
};
struct DeviceMemAllocDesc : Head {
  uint32_t flags = 0, ordinal = 0;
};
struct AllocationProperties : Head {
  uint32_t type = 0;
  uint64_t id = 0, page = 0;
};
struct ExportDesc : Head {
  uint32_t flags = 0;
};
struct ExportFd : Head {
  uint32_t flags = 0;
  int fd = -1;
};
struct PciProperties : Head {
  uint32_t domain, bus, device, function;
  int32_t generation, lanes;
  int64_t bandwidth;
};
struct IpcHandle {  // ze_ipc_mem_handle_t, passed by value
  char bytes[64];
};
// Drivers have two forms of it, both with a descriptor of the exporting process' in front. The
// newer one has that process' number here, and the importing driver fetches the descriptor by
// itself; the older one, which has a byte and zeros here, leaves that to the program.
inline constexpr size_t kIpcProcess = 16;

inline constexpr uint32_t kMemoryTypeDevice = 2, kModeAsynchronous = 2, kPoolHostVisible = 1,
                          kScopeHost = 4, kGroupCopy = 2, kGroupCompute = 1, kDmaBuf = 2;

struct Api {
  DriverLibrary lib{"libze_loader.so.1"};
  Result (*zeInit)(uint32_t flags) = lib.need("zeInit");
  Result (*zeDriverGet)(uint32_t* count, Handle* drivers) = lib.need("zeDriverGet");
  Result (*zeDeviceGet)(Handle driver, uint32_t* count, Handle* devices) = lib.need("zeDeviceGet");
  Result (*zeDeviceGetProperties)(Handle device,
                                  DeviceProperties* properties) = lib.need("zeDeviceGetProperties");
  Result (*zeDeviceGetMemoryProperties)(Handle device, uint32_t* count, MemoryProperties* out) =
      lib.need("zeDeviceGetMemoryProperties");
  Result (*zeDeviceGetCommandQueueGroupProperties)(Handle device, uint32_t* count,
                                                   QueueGroupProperties* out) =
      lib.need("zeDeviceGetCommandQueueGroupProperties");
  Result (*zeContextCreate)(Handle driver, const ContextDesc* desc,
                            Handle* context) = lib.need("zeContextCreate");
  Result (*zeContextDestroy)(Handle context) = lib.need("zeContextDestroy");
  Result (*zeMemAllocDevice)(Handle context, const DeviceMemAllocDesc* desc, size_t bytes,
                             size_t alignment, Handle device,
                             void** pointer) = lib.need("zeMemAllocDevice");
  Result (*zeMemFree)(Handle context, void* pointer) = lib.need("zeMemFree");
  Result (*zeMemGetAllocProperties)(Handle context, const void* pointer, AllocationProperties* out,
                                    Handle* device) = lib.need("zeMemGetAllocProperties");
  Result (*zeMemGetAddressRange)(Handle context, const void* pointer, void** base,
                                 size_t* bytes) = lib.need("zeMemGetAddressRange");
  Result (*zeMemGetIpcHandle)(Handle context, const void* pointer,
                              IpcHandle* handle) = lib.need("zeMemGetIpcHandle");
  Result (*zeMemPutIpcHandle)(Handle context, IpcHandle handle) = lib.want("zeMemPutIpcHandle");
  Result (*zeMemOpenIpcHandle)(Handle context, Handle device, IpcHandle handle, uint32_t flags,
                               void** pointer) = lib.need("zeMemOpenIpcHandle");
  Result (*zeMemCloseIpcHandle)(Handle context,
                                const void* pointer) = lib.need("zeMemCloseIpcHandle");
  Result (*zeCommandListCreateImmediate)(Handle context, Handle device, const QueueDesc* desc,
                                         Handle* list) = lib.need("zeCommandListCreateImmediate");
  Result (*zeCommandListDestroy)(Handle list) = lib.need("zeCommandListDestroy");
  Result (*zeCommandListAppendMemoryCopy)(Handle list, void* dst, const void* src, size_t bytes,
                                          Handle signal, uint32_t waits, Handle* wait_for) =
      lib.need("zeCommandListAppendMemoryCopy");
  Result (*zeEventPoolCreate)(Handle context, const EventPoolDesc* desc, uint32_t devices,
                              Handle* which, Handle* pool) = lib.need("zeEventPoolCreate");
  Result (*zeEventPoolDestroy)(Handle pool) = lib.need("zeEventPoolDestroy");
  Result (*zeEventCreate)(Handle pool, const EventDesc* desc,
                          Handle* event) = lib.need("zeEventCreate");
  Result (*zeEventDestroy)(Handle event) = lib.need("zeEventDestroy");
  Result (*zeEventQueryStatus)(Handle event) = lib.need("zeEventQueryStatus");
  Result (*zeEventHostReset)(Handle event) = lib.need("zeEventHostReset");
  // An extension:
  Result (*zeDevicePciGetPropertiesExt)(Handle device, PciProperties* properties) =
      lib.want("zeDevicePciGetPropertiesExt");
};

}  // namespace causeway::ze
