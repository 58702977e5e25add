// DeviceFacts: what a process publishes of a segment of device memory.
#pragma once

#include <causeway/plugin.h>

#include <string>
#include <type_traits>

namespace causeway {

// The numbers travel as they are: ranks of one job run one version of the library.
struct DeviceNumbers {
  cwy_memref ipc{};
  int32_t ordinal = 0;     // of the owner's device
  uint16_t stageable = 1;  // its owner's configuration lets it copy for others
  uint16_t has_ipc = 0;
};
// Equal facts are equal bytes.
static_assert(std::has_unique_object_representations_v<DeviceNumbers>);

// Travels in the segment's publication.
struct DeviceFacts : DeviceNumbers {
  std::string plugin;
  std::string path;  // where the device sits

  std::string pack() const;
  // Throws Error.
  static DeviceFacts unpack(const std::string& packed);
};

}  // namespace causeway
