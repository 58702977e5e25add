// DeviceFacts: what a process publishes of a segment of device memory.
#pragma once

#include <causeway/memkind.h>

#include <string>

namespace causeway {

// Travels in the segment's publication.
struct DeviceFacts {
  std::string plugin;
  cwym_attr attr{};       // of the owner's device: class, ordinal, PCI address
  bool stageable = true;  // its owner's configuration lets it copy for others
  bool has_ipc = false;
  cwy_memref ipc{};

  std::string pack() const;
  // Throws Error.
  static DeviceFacts unpack(const std::string& packed);
};

}  // namespace causeway
