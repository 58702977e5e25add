// The facts of plugins/memkind/hip against HIP's own headers.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#include <cstdio>

#include "fits.h"
#include "memkind/hip/facts.h"

namespace causeway::hip {

using driver_facts::same;

static_assert(same(kSuccess, hipSuccess) && same(kInvalidValue, hipErrorInvalidValue) &&
              same(kOutOfMemory, hipErrorOutOfMemory) &&
              same(kNotInitialized, hipErrorNotInitialized) &&
              same(kDeinitialized, hipErrorDeinitialized) && same(kNoDevice, hipErrorNoDevice) &&
              same(kInvalidDevice, hipErrorInvalidDevice) &&
              same(kEccUncorrectable, hipErrorECCNotCorrectable) &&
              same(kNotReady, hipErrorNotReady) && same(kIllegalAddress, hipErrorIllegalAddress) &&
              same(kLaunchTimeout, hipErrorLaunchTimeOut) &&
              same(kContextIsDestroyed, hipErrorContextIsDestroyed) &&
              same(kAssert, hipErrorAssert) &&
              same(kHostMemoryAlreadyRegistered, hipErrorHostMemoryAlreadyRegistered) &&
              same(kHostMemoryNotRegistered, hipErrorHostMemoryNotRegistered) &&
              same(kLaunchFailed, hipErrorLaunchFailure) &&
              same(kNotSupported, hipErrorNotSupported) && same(kUnknown, hipErrorUnknown));
static_assert(same(kPointerMemoryType, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE) &&
              same(kPointerDeviceOrdinal, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(hipMemoryTypeDevice ==
              (HIP_VERSION >= kVersion6 ? kMemoryTypeDevice6 : kMemoryTypeDevice5));
static_assert(same(kStreamNonBlocking, hipStreamNonBlocking) &&
              same(kEventDisableTiming, hipEventDisableTiming) &&
              same(kHostRegisterPortable, hipHostRegisterPortable) &&
              same(kCopyByAddress, hipMemcpyDefault));
static_assert(hipIpcMemLazyEnablePeerAccess ==
              (HIP_VERSION >= kVersion6 ? kLazyPeerAccess6 : kLazyPeerAccess5));
static_assert(sizeof(IpcHandle) == sizeof(hipIpcMemHandle_t));

DRIVER_FACT_CALL(hipGetErrorString);
DRIVER_FACT_CALL(hipGetLastError);
DRIVER_FACT_CALL(hipPeekAtLastError);
DRIVER_FACT_CALL(hipRuntimeGetVersion);
DRIVER_FACT_CALL(hipGetDeviceCount);
DRIVER_FACT_CALL(hipDeviceGetName);
DRIVER_FACT_CALL(hipDeviceTotalMem);
DRIVER_FACT_CALL(hipDeviceGetPCIBusId);
DRIVER_FACT_CALL(hipGetDevice);
DRIVER_FACT_CALL(hipSetDevice);
DRIVER_FACT_CALL(hipFree);
DRIVER_FACT_CALL(hipMemcpyAsync);
DRIVER_FACT_CALL(hipPointerGetAttribute);
DRIVER_FACT_CALL(hipMemGetAddressRange);
DRIVER_FACT_CALL(hipStreamCreateWithFlags);
DRIVER_FACT_CALL(hipStreamDestroy);
DRIVER_FACT_CALL(hipStreamSynchronize);
DRIVER_FACT_CALL(hipEventCreateWithFlags);
DRIVER_FACT_CALL(hipEventDestroy);
DRIVER_FACT_CALL(hipEventRecord);
DRIVER_FACT_CALL(hipEventQuery);
DRIVER_FACT_CALL(hipIpcGetMemHandle);
DRIVER_FACT_CALL(hipIpcOpenMemHandle);
DRIVER_FACT_CALL(hipIpcCloseMemHandle);
DRIVER_FACT_CALL(hipHostRegister);
DRIVER_FACT_CALL(hipHostUnregister);
// Overloaded for C++.
static_assert(
    driver_facts::Fits<decltype(Api::hipMalloc),
                       decltype(static_cast<hipError_t (*)(void**, size_t)>(&::hipMalloc))>::value);

}  // namespace causeway::hip

int main() {
  std::printf("agrees with the headers of HIP %d.%d\n", HIP_VERSION_MAJOR, HIP_VERSION_MINOR);
}
