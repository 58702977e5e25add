// Devices that conduits have said are down, so that a rank that waits or is lost can be explained.
#pragma once

#include <cstdint>
#include <string>

namespace causeway {

class Conduit;

// Takes a plugin's report (cwy_services.device_state): one line where the state is news, a warning
// by the first rank of a host. Any thread; the texts are the plugin's and may be NULL.
void note_device_state(const Conduit& conduit, const char* device, uint32_t state, const char* why);

// " (its device eth0 has been down for 3 s: no carrier)", or "" where none is. Any thread.
std::string device_trouble(const Conduit& conduit);

}  // namespace causeway
