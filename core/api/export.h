// Every extern "C" entry of the client interface is marked with this; the version script names
// them too.
#pragma once

#define CAUSEWAY_API extern "C" __attribute__((visibility("default")))
