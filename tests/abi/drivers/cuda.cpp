// The facts of plugins/memkind/cuda against CUDA's own header, on machines that have a toolkit.
//
// The header gives several calls a newer version by a macro of the old name. Members of the
// plugin's Api are renamed by it alike; what the plugin asks the library for is compared below.
#include <cuda.h>

#include <cstdio>
#include <string_view>

#include "fits.h"
#include "memkind/cuda/facts.h"

namespace causeway::cuda {

using driver_facts::same;

static_assert(same(kSuccess, CUDA_SUCCESS) && same(kInvalidValue, CUDA_ERROR_INVALID_VALUE) &&
              same(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY) &&
              same(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED) &&
              same(kDeinitialized, CUDA_ERROR_DEINITIALIZED) &&
              same(kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE) &&
              same(kNoDevice, CUDA_ERROR_NO_DEVICE) &&
              same(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE) &&
              same(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE) &&
              same(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE) &&
              same(kNotReady, CUDA_ERROR_NOT_READY) &&
              same(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS) &&
              same(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT) &&
              same(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED) &&
              same(kAssert, CUDA_ERROR_ASSERT) &&
              same(kHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) &&
              same(kHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) &&
              same(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR) &&
              same(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION) &&
              same(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS) &&
              same(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE) &&
              same(kInvalidPc, CUDA_ERROR_INVALID_PC) &&
              same(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED) &&
              same(kNotSupported, CUDA_ERROR_NOT_SUPPORTED) && same(kUnknown, CUDA_ERROR_UNKNOWN));
static_assert(same(kAttributePciBus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) &&
              same(kAttributePciDevice, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) &&
              same(kAttributePciDomain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) &&
              same(kAttributeUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING));
static_assert(same(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE) &&
              same(kPointerSyncMemops, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) &&
              same(kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) &&
              same(kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) &&
              same(kPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE));
static_assert(same(kMemoryTypeDevice, CU_MEMORYTYPE_DEVICE) &&
              same(kStreamNonBlocking, CU_STREAM_NON_BLOCKING) &&
              same(kEventDisableTiming, CU_EVENT_DISABLE_TIMING) &&
              same(kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) &&
              same(kHostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE));
static_assert(sizeof(IpcHandle) == sizeof(CUipcMemHandle) &&
              sizeof(Pointer) == sizeof(CUdeviceptr));

DRIVER_FACT_CALL(cuInit);
DRIVER_FACT_CALL(cuDriverGetVersion);
DRIVER_FACT_CALL(cuGetErrorString);
DRIVER_FACT_CALL(cuDeviceGetCount);
DRIVER_FACT_CALL(cuDeviceGet);
DRIVER_FACT_CALL(cuDeviceGetName);
DRIVER_FACT_CALL(cuDeviceGetAttribute);
DRIVER_FACT_CALL(cuDeviceTotalMem);
DRIVER_FACT_CALL(cuDevicePrimaryCtxRetain);
DRIVER_FACT_CALL(cuDevicePrimaryCtxRelease);
DRIVER_FACT_CALL(cuCtxPushCurrent);
DRIVER_FACT_CALL(cuCtxPopCurrent);
DRIVER_FACT_CALL(cuCtxGetFlags);
DRIVER_FACT_CALL(cuMemAlloc);
DRIVER_FACT_CALL(cuMemFree);
DRIVER_FACT_CALL(cuMemcpyAsync);
DRIVER_FACT_CALL(cuPointerGetAttribute);
DRIVER_FACT_CALL(cuPointerGetAttributes);
DRIVER_FACT_CALL(cuPointerSetAttribute);
DRIVER_FACT_CALL(cuStreamCreate);
DRIVER_FACT_CALL(cuStreamDestroy);
DRIVER_FACT_CALL(cuStreamSynchronize);
DRIVER_FACT_CALL(cuEventCreate);
DRIVER_FACT_CALL(cuEventDestroy);
DRIVER_FACT_CALL(cuEventRecord);
DRIVER_FACT_CALL(cuEventQuery);
DRIVER_FACT_CALL(cuIpcGetMemHandle);
DRIVER_FACT_CALL(cuIpcOpenMemHandle);
DRIVER_FACT_CALL(cuIpcCloseMemHandle);
DRIVER_FACT_CALL(cuMemHostRegister);
DRIVER_FACT_CALL(cuMemHostUnregister);

#define SPELLED(name) #name
#define SYMBOL(name) std::string_view(SPELLED(name))
static_assert(SYMBOL(cuDeviceTotalMem) == "cuDeviceTotalMem_v2" &&
              SYMBOL(cuDevicePrimaryCtxRelease) == "cuDevicePrimaryCtxRelease_v2" &&
              SYMBOL(cuCtxPushCurrent) == "cuCtxPushCurrent_v2" &&
              SYMBOL(cuCtxPopCurrent) == "cuCtxPopCurrent_v2" &&
              SYMBOL(cuMemAlloc) == "cuMemAlloc_v2" && SYMBOL(cuMemFree) == "cuMemFree_v2" &&
              SYMBOL(cuStreamDestroy) == "cuStreamDestroy_v2" &&
              SYMBOL(cuEventDestroy) == "cuEventDestroy_v2" &&
              SYMBOL(cuIpcOpenMemHandle) == "cuIpcOpenMemHandle_v2" &&
              SYMBOL(cuMemHostRegister) == "cuMemHostRegister_v2" &&
              SYMBOL(cuMemcpyAsync) == "cuMemcpyAsync");

#if CUDA_VERSION >= 11030
static_assert(same(kPointerPool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE));
#endif
#if CUDA_VERSION >= 12010
static_assert(same(kContextSyncMemops, CU_CTX_SYNC_MEMOPS));
DRIVER_FACT_CALL(cuCtxSetFlags);
#endif
#if CUDA_VERSION >= 11070
static_assert(same(kAttributeFlushOptions,
                   CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS) &&
              same(kAttributeDmaBuf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) &&
              same(kFlushFromHost, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST) &&
              same(kHandleDmaBuf, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD) &&
              same(kFlushTargetCurrentContext,
                   CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX) &&
              same(kFlushToAllDevices, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES));
DRIVER_FACT_CALL(cuMemGetHandleForAddressRange);
DRIVER_FACT_CALL(cuFlushGPUDirectRDMAWrites);
#endif

}  // namespace causeway::cuda

int main() {
  std::printf("agrees with the header of CUDA %d.%d\n", CUDA_VERSION / 1000,
              CUDA_VERSION % 1000 / 10);
}
