// Numbers that CUDA's driver and the HIP runtime share: HIP has taken over those of CUDA that it
// needs.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace causeway {

using Result = int;  // CUresult, hipError_t

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
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

enum : int {  // CUpointer_attribute, hipPointer_attribute
  kPointerMemoryType = 2,
  kPointerDeviceOrdinal = 9
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostRegisterPortable = 1;
inline constexpr int kHandleDmaBuf = 1;

}  // namespace causeway
