// Pins: host segments, of this process or of neighbors and mapped here, that are page-locked for
// copies of devices. Drivers copy other host memory through buffers of their own, at a fraction of
// the speed, and not beside the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace causeway {

class Device;

// Before a copy between the device's memory and host memory here: page-locks the segment that holds
// all of it, or the mapping, at the first large copy, within `memkinds.<name>.pin` bytes. Copies of
// what cannot be page-locked are slower, and right. Any thread, any context.
void pin_for_copy(Device& device, const void* host, size_t length);

// The same of buffers of the library's, mapped here, which take nothing of those bytes. Any thread.
void pin_buffers(Device& device, const void* memory, size_t size);

// The memory goes: before it is unmapped. Cheap in a process that pins nothing.
void unpin_range(uint64_t base, uint64_t size);
// The device goes.
void unpin_all(Device& device);

}  // namespace causeway
