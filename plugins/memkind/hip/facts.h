// Facts of the HIP runtime that the kind relies on: types, numbers and signatures of the entry
// points of libamdhip64, from AMD's public reference. No ROCm installation is needed.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace causeway::hip {

using Result = int;  // hipError_t
using Stream = void*;
using Event = void*;
struct IpcHandle {  // hipIpcMemHandle_t, passed by value
  char bytes[64];
};

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kEccUncorrectable = 214,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kUnknown = 999
};
enum : int {  // hipPointer_attribute
  kPointerMemoryType = 2,
  kPointerDeviceOrdinal = 9
};
// hipMemoryTypeDevice and hipIpcMemLazyEnablePeerAccess; renumbered by version 6.
inline constexpr int kMemoryTypeDevice5 = 1, kMemoryTypeDevice6 = 2;
inline constexpr unsigned kLazyPeerAccess5 = 0, kLazyPeerAccess6 = 1;
inline constexpr int kVersion6 = 60000000;
inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2,
                          kHostRegisterPortable = 1;
inline constexpr int kCopyByAddress = 4;  // hipMemcpyDefault
// The oldest runtime served: 5.0.
inline constexpr int kLeastVersion = 50000000;

struct Api {
  const char* (*hipGetErrorString)(Result error);
  Result (*hipGetLastError)();
  Result (*hipPeekAtLastError)();
  Result (*hipRuntimeGetVersion)(int* version);
  Result (*hipGetDeviceCount)(int* count);
  Result (*hipDeviceGetName)(char* name, int length, int device);
  Result (*hipDeviceTotalMem)(size_t* bytes, int device);
  Result (*hipDeviceGetPCIBusId)(char* text, int length, int device);
  Result (*hipGetDevice)(int* device);
  Result (*hipSetDevice)(int device);
  Result (*hipMalloc)(void** pointer, size_t bytes);
  Result (*hipFree)(void* pointer);
  Result (*hipMemcpyAsync)(void* dst, const void* src, size_t bytes, int kind, Stream stream);
  Result (*hipPointerGetAttribute)(void* data, int attribute, void* pointer);
  Result (*hipMemGetAddressRange)(void** base, size_t* bytes, void* pointer);
  Result (*hipStreamCreateWithFlags)(Stream* stream, unsigned flags);
  Result (*hipStreamDestroy)(Stream stream);
  Result (*hipStreamSynchronize)(Stream stream);
  Result (*hipEventCreateWithFlags)(Event* event, unsigned flags);
  Result (*hipEventDestroy)(Event event);
  Result (*hipEventRecord)(Event event, Stream stream);
  Result (*hipEventQuery)(Event event);
  Result (*hipIpcGetMemHandle)(IpcHandle* handle, void* pointer);
  Result (*hipIpcOpenMemHandle)(void** pointer, IpcHandle handle, unsigned flags);
  Result (*hipIpcCloseMemHandle)(void* pointer);
  Result (*hipHostRegister)(void* addr, size_t bytes, unsigned flags);
  Result (*hipHostUnregister)(void* addr);
  // Entry points of newer runtimes (6.2):
  Result (*hipMemGetHandleForAddressRange)(void* handle, void* pointer, size_t bytes, int type,
                                           unsigned long long flags);
};

}  // namespace causeway::hip
