// Facts of the CUDA driver API that the kind relies on: types, numbers and signatures of the entry
// points of libcuda.so.1, from NVIDIA's public reference. No CUDA installation is needed.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "../common/library.h"
#include "../common/results.h"

namespace causeway::cuda {

using DeviceOrdinal = int;           // CUdevice
using Pointer = unsigned long long;  // CUdeviceptr
using Context = void*;               // CUcontext
using Stream = void*;                // CUstream
using Event = void*;                 // CUevent

struct IpcHandle {  // CUipcMemHandle, passed by value
  char bytes[64];
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
  kPointerSyncMemops = 6,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerPool = 17
};
inline constexpr unsigned kMemoryTypeDevice = 2;

inline constexpr unsigned kIpcLazyPeerAccess = 1;
inline constexpr unsigned kContextSyncMemops = 0x80;  // CUctx_flags
inline constexpr int kFlushTargetCurrentContext = 0, kFlushToAllDevices = 200;

// The oldest driver served: 11.0, the first with cuIpcOpenMemHandle_v2.
inline constexpr int kLeastVersion = 11000;

struct Api {
  DriverLibrary lib{"libcuda.so.1"};
  Result (*cuInit)(unsigned flags) = lib.need("cuInit");
  Result (*cuDriverGetVersion)(int* version) = lib.need("cuDriverGetVersion");
  Result (*cuGetErrorString)(Result error, const char** text) = lib.need("cuGetErrorString");
  Result (*cuDeviceGetCount)(int* count) = lib.need("cuDeviceGetCount");
  Result (*cuDeviceGet)(DeviceOrdinal* device, int ordinal) = lib.need("cuDeviceGet");
  Result (*cuDeviceGetName)(char* name, int length,
                            DeviceOrdinal device) = lib.need("cuDeviceGetName");
  Result (*cuDeviceGetAttribute)(int* value, int attribute,
                                 DeviceOrdinal device) = lib.need("cuDeviceGetAttribute");
  Result (*cuDeviceTotalMem)(size_t* bytes, DeviceOrdinal device) = lib.need("cuDeviceTotalMem_v2");
  Result (*cuDevicePrimaryCtxRetain)(Context* context,
                                     DeviceOrdinal device) = lib.need("cuDevicePrimaryCtxRetain");
  Result (*cuDevicePrimaryCtxRelease)(DeviceOrdinal device) =
      lib.need("cuDevicePrimaryCtxRelease_v2");
  Result (*cuCtxPushCurrent)(Context context) = lib.need("cuCtxPushCurrent_v2");
  Result (*cuCtxPopCurrent)(Context* context) = lib.need("cuCtxPopCurrent_v2");
  Result (*cuCtxGetFlags)(unsigned* flags) = lib.need("cuCtxGetFlags");
  Result (*cuMemAlloc)(Pointer* pointer, size_t bytes) = lib.need("cuMemAlloc_v2");
  Result (*cuMemFree)(Pointer pointer) = lib.need("cuMemFree_v2");
  Result (*cuMemcpyAsync)(Pointer dst, Pointer src, size_t bytes,
                          Stream stream) = lib.need("cuMemcpyAsync");
  Result (*cuPointerGetAttribute)(void* data, int attribute,
                                  Pointer pointer) = lib.need("cuPointerGetAttribute");
  Result (*cuPointerGetAttributes)(unsigned count, int* attributes, void** data,
                                   Pointer pointer) = lib.need("cuPointerGetAttributes");
  Result (*cuPointerSetAttribute)(const void* data, int attribute,
                                  Pointer pointer) = lib.need("cuPointerSetAttribute");
  Result (*cuStreamCreate)(Stream* stream, unsigned flags) = lib.need("cuStreamCreate");
  Result (*cuStreamDestroy)(Stream stream) = lib.need("cuStreamDestroy_v2");
  Result (*cuStreamSynchronize)(Stream stream) = lib.need("cuStreamSynchronize");
  Result (*cuEventCreate)(Event* event, unsigned flags) = lib.need("cuEventCreate");
  Result (*cuEventDestroy)(Event event) = lib.need("cuEventDestroy_v2");
  Result (*cuEventRecord)(Event event, Stream stream) = lib.need("cuEventRecord");
  Result (*cuEventQuery)(Event event) = lib.need("cuEventQuery");
  Result (*cuIpcGetMemHandle)(IpcHandle* handle, Pointer pointer) = lib.need("cuIpcGetMemHandle");
  Result (*cuIpcOpenMemHandle)(Pointer* pointer, IpcHandle handle,
                               unsigned flags) = lib.need("cuIpcOpenMemHandle_v2");
  Result (*cuIpcCloseMemHandle)(Pointer pointer) = lib.need("cuIpcCloseMemHandle");
  Result (*cuMemHostRegister)(void* addr, size_t bytes,
                              unsigned flags) = lib.need("cuMemHostRegister_v2");
  Result (*cuMemHostUnregister)(void* addr) = lib.need("cuMemHostUnregister");
  // Entry points of newer drivers:
  Result (*cuMemGetHandleForAddressRange)(void* handle, Pointer pointer, size_t bytes, int type,
                                          unsigned long long flags) =
      lib.want("cuMemGetHandleForAddressRange");
  Result (*cuFlushGPUDirectRDMAWrites)(int target,
                                       int scope) = lib.want("cuFlushGPUDirectRDMAWrites");
  Result (*cuCtxSetFlags)(unsigned flags) = lib.want("cuCtxSetFlags");  // CUDA 12.1
};

}  // namespace causeway::cuda
