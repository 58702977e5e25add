// Facts of the CUDA driver API that the kind relies on: types, numbers and signatures of the entry
// points of libcuda.so.1, from NVIDIA's public reference. No CUDA installation is needed.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace causeway::cuda {

using Result = int;                  // CUresult
using DeviceOrdinal = int;           // CUdevice
using Pointer = unsigned long long;  // CUdeviceptr
using Context = void*;               // CUcontext
using Stream = void*;                // CUstream
using Event = void*;                 // CUevent

struct IpcHandle {  // CUipcMemHandle, passed by value
  char bytes[64];
};

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kEccUncorrectable = 214,
  kNvlinkUncorrectable = 220,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kUnknown = 999
};

enum : int {  // CUdevice_attribute
  kAttributePciBus = 33,
  kAttributePciDevice = 34,
  kAttributeUnifiedAddressing = 41,
  kAttributePciDomain = 50,
  kAttributeFlushOptions = 117,  // of GPUDirect RDMA writes
  kAttributeDmaBuf = 124
};
inline constexpr int kFlushFromHost = 1;

enum : int {  // CUpointer_attribute
  kPointerMemoryType = 2,
  kPointerSyncMemops = 6,
  kPointerDeviceOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12
};
inline constexpr unsigned kMemoryTypeDevice = 2;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kIpcLazyPeerAccess = 1;
inline constexpr int kHandleDmaBuf = 1;
inline constexpr unsigned kHostRegisterPortable = 1;
inline constexpr int kFlushTargetCurrentContext = 0, kFlushToAllDevices = 200;

// The oldest driver served: 11.0, the first with cuIpcOpenMemHandle_v2.
inline constexpr int kLeastVersion = 11000;

struct Api {
  Result (*cuInit)(unsigned flags);
  Result (*cuDriverGetVersion)(int* version);
  Result (*cuGetErrorString)(Result error, const char** text);
  Result (*cuDeviceGetCount)(int* count);
  Result (*cuDeviceGet)(DeviceOrdinal* device, int ordinal);
  Result (*cuDeviceGetName)(char* name, int length, DeviceOrdinal device);
  Result (*cuDeviceGetAttribute)(int* value, int attribute, DeviceOrdinal device);
  Result (*cuDeviceTotalMem)(size_t* bytes, DeviceOrdinal device);
  Result (*cuDevicePrimaryCtxRetain)(Context* context, DeviceOrdinal device);
  Result (*cuDevicePrimaryCtxRelease)(DeviceOrdinal device);
  Result (*cuCtxPushCurrent)(Context context);
  Result (*cuCtxPopCurrent)(Context* context);
  Result (*cuMemAlloc)(Pointer* pointer, size_t bytes);
  Result (*cuMemFree)(Pointer pointer);
  Result (*cuMemcpyAsync)(Pointer dst, Pointer src, size_t bytes, Stream stream);
  Result (*cuPointerGetAttribute)(void* data, int attribute, Pointer pointer);
  Result (*cuPointerSetAttribute)(const void* data, int attribute, Pointer pointer);
  Result (*cuStreamCreate)(Stream* stream, unsigned flags);
  Result (*cuStreamDestroy)(Stream stream);
  Result (*cuStreamSynchronize)(Stream stream);
  Result (*cuEventCreate)(Event* event, unsigned flags);
  Result (*cuEventDestroy)(Event event);
  Result (*cuEventRecord)(Event event, Stream stream);
  Result (*cuEventQuery)(Event event);
  Result (*cuIpcGetMemHandle)(IpcHandle* handle, Pointer pointer);
  Result (*cuIpcOpenMemHandle)(Pointer* pointer, IpcHandle handle, unsigned flags);
  Result (*cuIpcCloseMemHandle)(Pointer pointer);
  Result (*cuMemHostRegister)(void* addr, size_t bytes, unsigned flags);
  Result (*cuMemHostUnregister)(void* addr);
  // Entry points of newer drivers:
  Result (*cuMemGetHandleForAddressRange)(void* handle, Pointer pointer, size_t bytes, int type,
                                          unsigned long long flags);
  Result (*cuFlushGPUDirectRDMAWrites)(int target, int scope);
};

}  // namespace causeway::cuda
