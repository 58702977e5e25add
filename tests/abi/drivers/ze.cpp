// The facts of plugins/memkind/ze against Level Zero's own headers.
#include <level_zero/ze_api.h>

#include <cstdio>

#include "fits.h"
#include "memkind/ze/facts.h"

namespace causeway::ze {

using driver_facts::same;

static_assert(same(kSuccess, ZE_RESULT_SUCCESS) && same(kNotReady, ZE_RESULT_NOT_READY) &&
              same(kDeviceLost, ZE_RESULT_ERROR_DEVICE_LOST) &&
              same(kOutOfHostMemory, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) &&
              same(kOutOfDeviceMemory, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) &&
              same(kUninitialized, ZE_RESULT_ERROR_UNINITIALIZED) &&
              same(kUnsupportedVersion, ZE_RESULT_ERROR_UNSUPPORTED_VERSION) &&
              same(kInvalidArgument, ZE_RESULT_ERROR_INVALID_ARGUMENT) &&
              same(kInvalidNullHandle, ZE_RESULT_ERROR_INVALID_NULL_HANDLE) &&
              same(kInvalidNullPointer, ZE_RESULT_ERROR_INVALID_NULL_POINTER) &&
              same(kInvalidSize, ZE_RESULT_ERROR_INVALID_SIZE) &&
              same(kUnsupportedSize, ZE_RESULT_ERROR_UNSUPPORTED_SIZE) &&
              same(kUnknown, ZE_RESULT_ERROR_UNKNOWN));
static_assert(same(kTypeDeviceProperties, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES) &&
              same(kTypeQueueGroupProperties, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES) &&
              same(kTypeMemoryProperties, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES) &&
              same(kTypeContextDesc, ZE_STRUCTURE_TYPE_CONTEXT_DESC) &&
              same(kTypeQueueDesc, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC) &&
              same(kTypeEventPoolDesc, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC) &&
              same(kTypeEventDesc, ZE_STRUCTURE_TYPE_EVENT_DESC) &&
              same(kTypeDeviceMemAllocDesc, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC) &&
              same(kTypeAllocationProperties, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES) &&
              same(kTypeExportDesc, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) &&
              same(kTypeExportFd, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD) &&
              same(kTypePciProperties, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES));
static_assert(same(kMemoryTypeDevice, ZE_MEMORY_TYPE_DEVICE) &&
              same(kModeAsynchronous, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS) &&
              same(kPoolHostVisible, ZE_EVENT_POOL_FLAG_HOST_VISIBLE) &&
              same(kScopeHost, ZE_EVENT_SCOPE_FLAG_HOST) &&
              same(kGroupCopy, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) &&
              same(kGroupCompute, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) &&
              same(kDmaBuf, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF));

// The library writes and reads whole structures.
static_assert(sizeof(DeviceProperties) == sizeof(ze_device_properties_t) &&
              sizeof(MemoryProperties) == sizeof(ze_device_memory_properties_t) &&
              sizeof(QueueGroupProperties) == sizeof(ze_command_queue_group_properties_t) &&
              sizeof(ContextDesc) == sizeof(ze_context_desc_t) &&
              sizeof(QueueDesc) == sizeof(ze_command_queue_desc_t) &&
              sizeof(EventPoolDesc) == sizeof(ze_event_pool_desc_t) &&
              sizeof(EventDesc) == sizeof(ze_event_desc_t) &&
              sizeof(DeviceMemAllocDesc) == sizeof(ze_device_mem_alloc_desc_t) &&
              sizeof(AllocationProperties) == sizeof(ze_memory_allocation_properties_t) &&
              sizeof(ExportDesc) == sizeof(ze_external_memory_export_desc_t) &&
              sizeof(ExportFd) == sizeof(ze_external_memory_export_fd_t) &&
              sizeof(PciProperties) == sizeof(ze_pci_ext_properties_t) &&
              sizeof(IpcHandle) == sizeof(ze_ipc_mem_handle_t));
DRIVER_FACT_MEMBER(DeviceProperties, name, ze_device_properties_t, name);
DRIVER_FACT_MEMBER(MemoryProperties, bytes, ze_device_memory_properties_t, totalSize);
DRIVER_FACT_MEMBER(QueueGroupProperties, flags, ze_command_queue_group_properties_t, flags);
DRIVER_FACT_MEMBER(QueueGroupProperties, queues, ze_command_queue_group_properties_t, numQueues);
DRIVER_FACT_MEMBER(QueueDesc, ordinal, ze_command_queue_desc_t, ordinal);
DRIVER_FACT_MEMBER(QueueDesc, mode, ze_command_queue_desc_t, mode);
DRIVER_FACT_MEMBER(EventPoolDesc, flags, ze_event_pool_desc_t, flags);
DRIVER_FACT_MEMBER(EventPoolDesc, count, ze_event_pool_desc_t, count);
DRIVER_FACT_MEMBER(EventDesc, index, ze_event_desc_t, index);
DRIVER_FACT_MEMBER(EventDesc, signal, ze_event_desc_t, signal);
DRIVER_FACT_MEMBER(EventDesc, wait, ze_event_desc_t, wait);
DRIVER_FACT_MEMBER(DeviceMemAllocDesc, ordinal, ze_device_mem_alloc_desc_t, ordinal);
DRIVER_FACT_MEMBER(AllocationProperties, type, ze_memory_allocation_properties_t, type);
DRIVER_FACT_MEMBER(ExportDesc, flags, ze_external_memory_export_desc_t, flags);
DRIVER_FACT_MEMBER(ExportFd, flags, ze_external_memory_export_fd_t, flags);
DRIVER_FACT_MEMBER(ExportFd, fd, ze_external_memory_export_fd_t, fd);
static_assert(offsetof(PciProperties, domain) == offsetof(ze_pci_ext_properties_t, address));

DRIVER_FACT_CALL(zeInit);
DRIVER_FACT_CALL(zeDriverGet);
DRIVER_FACT_CALL(zeDeviceGet);
DRIVER_FACT_CALL(zeDeviceGetProperties);
DRIVER_FACT_CALL(zeDeviceGetMemoryProperties);
DRIVER_FACT_CALL(zeDeviceGetCommandQueueGroupProperties);
DRIVER_FACT_CALL(zeContextCreate);
DRIVER_FACT_CALL(zeContextDestroy);
DRIVER_FACT_CALL(zeMemAllocDevice);
DRIVER_FACT_CALL(zeMemFree);
DRIVER_FACT_CALL(zeMemGetAllocProperties);
DRIVER_FACT_CALL(zeMemGetAddressRange);
DRIVER_FACT_CALL(zeMemGetIpcHandle);
DRIVER_FACT_CALL(zeMemOpenIpcHandle);
DRIVER_FACT_CALL(zeMemCloseIpcHandle);
DRIVER_FACT_CALL(zeCommandListCreateImmediate);
DRIVER_FACT_CALL(zeCommandListDestroy);
DRIVER_FACT_CALL(zeCommandListAppendMemoryCopy);
DRIVER_FACT_CALL(zeEventPoolCreate);
DRIVER_FACT_CALL(zeEventPoolDestroy);
DRIVER_FACT_CALL(zeEventCreate);
DRIVER_FACT_CALL(zeEventDestroy);
DRIVER_FACT_CALL(zeEventQueryStatus);
DRIVER_FACT_CALL(zeEventHostReset);
DRIVER_FACT_CALL(zeDevicePciGetPropertiesExt);

}  // namespace causeway::ze

int main() {
  std::printf("agrees with the headers of Level Zero %d.%d\n",
              ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT), ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT));
}
