// Facts of the HIP runtime that the kind relies on: types, numbers and signatures of the entry
// points of libamdhip64, from AMD's public reference. No ROCm installation is needed.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "../common/library.h"
#include "../common/results.h"

namespace causeway::hip {

using Stream = void*;
using Event = void*;
struct IpcHandle {  // hipIpcMemHandle_t, passed by value
  char bytes[64];
};

// hipMemoryTypeDevice and hipIpcMemLazyEnablePeerAccess; renumbered by version 6.
inline constexpr int kMemoryTypeDevice5 = 1, kMemoryTypeDevice6 = 2;
inline constexpr unsigned kLazyPeerAccess5 = 0, kLazyPeerAccess6 = 1;
inline constexpr int kVersion6 = 60000000;
inline constexpr int kCopyByAddress = 4;  // hipMemcpyDefault
// The oldest runtime served: 5.0.
inline constexpr int kLeastVersion = 50000000;

struct Api {
  DriverLibrary lib;  // under whichever name it has
  const char* (*hipGetErrorString)(Result error) = lib.need("hipGetErrorString");
  Result (*hipGetLastError)() = lib.need("hipGetLastError");
  Result (*hipPeekAtLastError)() = lib.need("hipPeekAtLastError");
  Result (*hipRuntimeGetVersion)(int* version) = lib.need("hipRuntimeGetVersion");
  Result (*hipGetDeviceCount)(int* count) = lib.need("hipGetDeviceCount");
  Result (*hipDeviceGetName)(char* name, int length, int device) = lib.need("hipDeviceGetName");
  Result (*hipDeviceTotalMem)(size_t* bytes, int device) = lib.need("hipDeviceTotalMem");
  Result (*hipDeviceGetPCIBusId)(char* text, int length,
                                 int device) = lib.need("hipDeviceGetPCIBusId");
  Result (*hipGetDevice)(int* device) = lib.need("hipGetDevice");
  Result (*hipSetDevice)(int device) = lib.need("hipSetDevice");
  Result (*hipMalloc)(void** pointer, size_t bytes) = lib.need("hipMalloc");
  Result (*hipFree)(void* pointer) = lib.need("hipFree");
  Result (*hipMemcpyAsync)(void* dst, const void* src, size_t bytes, int kind,
                           Stream stream) = lib.need("hipMemcpyAsync");
  Result (*hipPointerGetAttribute)(void* data, int attribute,
                                   void* pointer) = lib.need("hipPointerGetAttribute");
  Result (*hipMemGetAddressRange)(void** base, size_t* bytes,
                                  void* pointer) = lib.need("hipMemGetAddressRange");
  Result (*hipStreamCreateWithFlags)(Stream* stream,
                                     unsigned flags) = lib.need("hipStreamCreateWithFlags");
  Result (*hipStreamDestroy)(Stream stream) = lib.need("hipStreamDestroy");
  Result (*hipStreamSynchronize)(Stream stream) = lib.need("hipStreamSynchronize");
  Result (*hipEventCreateWithFlags)(Event* event,
                                    unsigned flags) = lib.need("hipEventCreateWithFlags");
  Result (*hipEventDestroy)(Event event) = lib.need("hipEventDestroy");
  Result (*hipEventRecord)(Event event, Stream stream) = lib.need("hipEventRecord");
  Result (*hipEventQuery)(Event event) = lib.need("hipEventQuery");
  Result (*hipIpcGetMemHandle)(IpcHandle* handle, void* pointer) = lib.need("hipIpcGetMemHandle");
  Result (*hipIpcOpenMemHandle)(void** pointer, IpcHandle handle,
                                unsigned flags) = lib.need("hipIpcOpenMemHandle");
  Result (*hipIpcCloseMemHandle)(void* pointer) = lib.need("hipIpcCloseMemHandle");
  Result (*hipHostRegister)(void* addr, size_t bytes, unsigned flags) = lib.need("hipHostRegister");
  Result (*hipHostUnregister)(void* addr) = lib.need("hipHostUnregister");
  // Entry points of newer runtimes (6.2):
  Result (*hipMemGetHandleForAddressRange)(void* handle, void* pointer, size_t bytes, int type,
                                           unsigned long long flags) =
      lib.want("hipMemGetHandleForAddressRange");
};

}  // namespace causeway::hip
