// The objects' calls of the room that moves device memory. Set by wiring.cpp, constant afterwards.
#pragma once

#include <cstdint>
#include <memory>

#include "kinds/device_facts.h"

namespace causeway {

class RemoteDevice;

struct DeviceMemoryHooks {
  // Memory goes: before it is unmapped.
  void (*memory_goes)(uint64_t base, uint64_t size) = nullptr;
  // A handle of the memory of the segment with that number is about to be given away.
  void (*note_export)(uint64_t segment) = nullptr;
  // Its memory is about to be freed: returns when no other process has it open. Polls meanwhile.
  void (*recall)(uint64_t segment, const char* call) = nullptr;
  // How this process reaches the device memory that `rank` published in its segment of that number.
  std::shared_ptr<RemoteDevice> (*know)(DeviceFacts facts, uint32_t rank, uint64_t segment,
                                        bool same_host) = nullptr;
};
extern DeviceMemoryHooks device_memory;

}  // namespace causeway
